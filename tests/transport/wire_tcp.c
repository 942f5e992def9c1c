/* TCP from the outside: strangers at the listening socket, bytes on an open connection that are no messages, connections that are cut,
 * no descriptors left, interfaces. The test finds sockets among the descriptors of its own process. */
#include "transport/net.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES = 400 };

union name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static bool listens(int fd)
{
    int on = 0;
    socklen_t length = sizeof on;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &length) == 0 && on;
}

/* The port of the worker that was opened last. */
static in_port_t last_port(void)
{
    union name name = {0};
    for (int fd = FILES; fd >= 0; fd--)
        if (listens(fd)) {
            socklen_t length = sizeof name;
            CHECK(getsockname(fd, &name.any, &length) == 0, "its name");
            return name.six.sin6_port; /* sockaddr_in has it at the same place */
        }
    CHECK(false, "nobody listens");
    return 0;
}

static int call(in_port_t port)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0, "a stranger can call");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Reads until the other end hangs up. */
static void is_shown_out(int fd)
{
    char bytes[64];
    ssize_t got;
    while ((got = recv(fd, bytes, sizeof bytes, 0)) != 0 && (got > 0 || errno == EAGAIN))
        net_idle(net_pump());
    close(fd);
}

static void talk(void)
{
    for (int i = 0; i < 40; i++)
        net_send(net_worker(i % 2, 0), !(i % 2), 0, i % 7 ? 500 : 60000);
    net_settle();
}

/* Strangers that say nothing, too little, or what is wrong; PEs still reach each other. */
static void strangers(void)
{
    char words[4096];
    int silent[100];
    net_start(2, 1);
    struct net_worker *by = net_worker(0, 0);
    const in_port_t port = last_port();
    for (int i = 0; i < 100; i++) {
        silent[i] = call(port);
        net_pump();
    }
    for (int i = 0; i < 60; i++) {
        const int fd = call(port);
        const size_t bytes = 64 + net_below(by, sizeof words - 64);
        net_fill(words, bytes, net_random(by));
        CHECK(send(fd, words, bytes, MSG_NOSIGNAL) > 0, "it speaks");
        is_shown_out(fd);
    }
    for (int i = 0; i < 20; i++) { /* a part, and hangs up */
        const int fd = call(port);
        CHECK(send(fd, words, 1 + net_below(by, 30), MSG_NOSIGNAL) > 0, "it speaks");
        net_pump();
        close(fd);
    }
    talk();
    for (int i = 0; i < 100; i++)
        close(silent[i]);
    talk();
}

/* A caller that has another key, as a PE of another job has; and every other change of an address: at worst the connection is refused. */
static void wrong_addresses(void)
{
    net_start(2, 1);
    struct net_worker *worker = net_worker(0, 0);
    char *address = net.shared->address[1][0];
    const size_t bytes = net.shared->bytes[1][0];
    net.may_fail = true;
    for (size_t i = 0; i < bytes + 20; i++) {
        address[i % bytes] ^= (char)(1 << net_below(worker, 8));
        void *to = net_of(worker)->connect(worker->at, 1, address, i < 20 ? bytes - 1 - i : bytes);
        CHECK(to == 0 || i >= 20, "an address of %zu bytes is none", bytes - 1 - i);
        for (int k = 0; k < 20; k++)
            net_pump();
    }
    CHECK(!net.pairs[0][0][1][0].got_shorts && !net_worker(1, 0)->failed, "the PE that is called knows nothing of it");
}

/* --- Open connections */

/* Finds the ends of open connections in this process. */
static int connections(int *files, int most)
{
    int count = 0;
    for (int fd = 0; fd < FILES && count < most; fd++) {
        union name name;
        socklen_t length = sizeof name;
        if (!listens(fd) && getpeername(fd, &name.any, &length) == 0 && name.any.sa_family != AF_UNIX)
            files[count++] = fd;
    }
    return count;
}

static bool heard_of_loss(void)
{
    return net_worker(0, 0)->broken[1] || net_worker(1, 0)->broken[0];
}

/* A word that no message begins with: the connection is given up. */
static void bad_word(void)
{
    int files[8];
    net_start(2, 1);
    talk();
    const int count = connections(files, 8);
    CHECK(count >= 2, "a connection has two ends");
    net.may_fail = true;
    const uint64_t word = UINT64_MAX;
    CHECK(send(files[0], &word, sizeof word, MSG_NOSIGNAL) == sizeof word, "a word");
    NET_UNTIL(heard_of_loss());
}

/* Any bytes: whatever becomes of the connection, the process goes on, and so do its other connections. */
static void any_bytes(struct net_worker *worker, int pe, int number)
{
    (void)worker, (void)pe, (void)number;
}

static void cut_in_the_midst(void)
{
    int files[8];
    net_start(3, 1);
    talk();
    const int count = connections(files, 8);
    CHECK(count == 2, "one connection");
    net.may_fail = true;
    net_worker(1, 0)->heard = any_bytes;
    for (int i = 0; i < 30; i++)
        net_send(net_worker(0, 0), 1, 0, 300000);
    for (uint64_t i = net_below(net_worker(0, 0), 20); i > 0; i--)
        net_pump();
    shutdown(files[net_below(net_worker(0, 0), 2)], SHUT_RDWR);
    NET_UNTIL(heard_of_loss());
    for (int i = 0; i < 40; i++)
        net_send(net_worker(2, 0), 0, 0, 5000);
    NET_UNTIL(net.pairs[2][0][0][0].got_shorts == 40);
}

/* --- Descriptors */

static rlim_t limit_files(rlim_t most)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit");
    const rlim_t was = limit.rlim_cur;
    limit.rlim_cur = most;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "a limit");
    return was;
}

static rlim_t first_free(void)
{
    const int fd = dup(1);
    CHECK(fd >= 0, "a descriptor");
    close(fd);
    return (rlim_t)fd;
}

static void no_descriptor_to_call(void)
{
    net_start(2, 2);
    const rlim_t was = limit_files(first_free());
    net.may_fail = true;
    void *worker = 0;
    CHECK(!net_to(net_worker(0, 0), 1, 0), "a PE that has no descriptor cannot call");
    CHECK(net.at[0]->open_worker(net_worker(0, 1), &worker), "nor open a worker");
    limit_files(was);
    net.may_fail = false;
    talk();
}

/* A PE that cannot let others in says so, naming itself, and lets them in when it can. */
static void no_descriptor_to_answer(void)
{
    net_start(2, 1);
    const int stranger = call(last_port());
    const rlim_t was = limit_files(first_free());
    net.may_fail = true;
    NET_UNTIL(net_worker(1, 0)->broken[1]);
    limit_files(was);
    net.may_fail = false;
    talk();
    close(stranger);
}

/* --- Interfaces */

static void interfaces(void)
{
    setenv("LATERAL_INTERFACE", "no-such-one", 1);
    const char *why = net_open(0, 1, 2, 1);
    CHECK(why && strstr(why, "LATERAL_INTERFACE"), "%s", why ? why : "an interface that is not there");
    setenv("LATERAL_INTERFACE", "lo", 1);
    CHECK(!net_reopen(0), "the loopback can be chosen");
    why = net_open(1, 1, 2, 1);
    CHECK(!why, "%s", why);
    talk();
    for (int fd = 0; fd < FILES; fd++) {
        union name name;
        socklen_t length = sizeof name;
        if (!listens(fd) || getsockname(fd, &name.any, &length) != 0)
            continue;
        CHECK(name.any.sa_family == AF_INET ? ntohl(name.four.sin_addr.s_addr) == INADDR_LOOPBACK
                                            : IN6_IS_ADDR_LOOPBACK(&name.six.sin6_addr),
              "it listens at the interface alone");
    }
}

const struct net_case cases_tcp[] = {{"strangers", strangers, "wire"},
                                     {"wrong_addresses", wrong_addresses, "wire"},
                                     {"bad_word", bad_word, "wire"},
                                     {"cut_in_the_midst", cut_in_the_midst, "wire"},
                                     {"no_descriptor_to_call", no_descriptor_to_call, "wire"},
                                     {"no_descriptor_to_answer", no_descriptor_to_answer, "wire"},
                                     {"interfaces", interfaces, "wire"},
                                     {0}};
