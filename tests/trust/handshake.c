/* The door at which other hosts call this PE: who proves that he knows the job's key is let in; anybody else has
 * seconds and a share of the descriptors; what was heard once is worth nothing. And the same from the caller's side. */
#include "base/env.h"
#include "rte/rte.h"
#include "uccs/core/core.h"
#include "uccs/core/keepalive.h"
#include "net/auth/auth.h"

#include "unit/check.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FLOOD = 400, SHARE = 40 };

static struct routes place;

static int descriptors(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    CHECK(all);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

/* Serves the lines for so long. */
static void serve(int milliseconds)
{
    struct pollfd file = {uccs_keepalive_descriptor(), POLLIN, 0};
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        (void)poll(&file, 1, 5);
        uccs_keepalive_poll();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
}

static int call_door(const char *address)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = place.port};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && inet_pton(AF_INET, address, &name.sin_addr) == 1);
    if (connect(fd, (struct sockaddr *)&name, sizeof name) != 0) {
        close(fd);
        return -1;
    }
    serve(20);
    return fd;
}

static struct handshake_challenge challenge_at(int fd)
{
    struct handshake_challenge challenge;
    CHECK(recv(fd, &challenge, sizeof challenge, MSG_DONTWAIT | MSG_WAITALL) == sizeof challenge);
    return challenge;
}

static struct handshake_hello hello_to(const struct handshake_challenge *challenge)
{
    struct handshake_hello hello = {.from = 1, .to = 0};
    CHECK(handshake_make_challenge(&hello.challenge));
    handshake_sign(rte.node->nonce, &hello, challenge);
    return hello;
}

/* Says a hello. Returns true when the right answer comes, false when the door hangs up. */
static bool let_in(int fd, const struct handshake_hello *hello, const struct handshake_challenge *challenge)
{
    uint64_t answer;
    CHECK(send(fd, hello, sizeof *hello, MSG_NOSIGNAL) == sizeof *hello);
    serve(20);
    ssize_t got = recv(fd, &answer, sizeof answer, MSG_DONTWAIT);
    return got == sizeof answer && answer == handshake_answer(rte.node->nonce, hello, challenge);
}

static void proofs(void)
{
    int first = call_door("127.0.0.1"), second = call_door("127.0.0.1");
    const struct handshake_challenge one = challenge_at(first), two = challenge_at(second);
    CHECK(memcmp(&one, &two, sizeof one) != 0);
    struct handshake_hello hello = hello_to(&one);
    CHECK(!let_in(second, &hello, &two)); /* heard elsewhere, said again */
    close(second);
    second = call_door("127.0.0.1");
    struct handshake_challenge three = challenge_at(second);
    hello = hello_to(&three);
    hello.from = 2; /* another than it was signed for */
    CHECK(!let_in(second, &hello, &three));
    close(second);
    second = call_door("127.0.0.1");
    three = challenge_at(second);
    hello = (struct handshake_hello){.from = 1, .challenge = three};
    hello.proof = handshake_answer(rte.node->nonce, &hello, &three); /* the called PE's words said by the caller */
    CHECK(!let_in(second, &hello, &three));
    close(second);
    hello = hello_to(&one);
    CHECK(let_in(first, &hello, &one));
    serve(20);
    CHECK(recv(first, &hello, 1, MSG_DONTWAIT) < 0); /* the line stays */
}

/* While others hold what they can, a PE of the job is let in. */
static void floods(void)
{
    const int before = descriptors();
    int hold[2], go[2];
    CHECK(pipe(hold) == 0 && pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = place.port};
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (int i = 0; i < FLOOD; i++) {
            int fd = socket(AF_INET, SOCK_STREAM, 0);
            (void)!connect(fd, (struct sockaddr *)&name, sizeof name);
        }
        (void)!write(hold[1], &byte, 1);
        (void)!read(go[0], &byte, 1);
        _exit(0);
    }
    char byte;
    CHECK(child > 0 && read(hold[0], &byte, 1) == 1);
    serve(300);
    const int during = descriptors();
    fprintf(stderr, "%d descriptors before, %d while %d callers hold on\n", before, during, FLOOD);
    CHECK(during - before <= SHARE);
    int fd = call_door("127.0.0.1");
    const struct handshake_challenge challenge = challenge_at(fd);
    const struct handshake_hello hello = hello_to(&challenge);
    CHECK(let_in(fd, &hello, &challenge));
    serve(3100);
    CHECK(descriptors() - before <= 6); /* pipes, both ends of the line */
    CHECK(write(go[1], &byte, 1) == 1 && waitpid(child, NULL, 0) == child);
}

/* A called PE that does not know the key is called some times and given up; it is told nothing that helps it. */
static void strangers(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), calls = 0;
    uccs_keepalive_close();
    CHECK(uccs_keepalive_open(&place) == 0);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 8) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&name, &length) == 0);
    struct routes there = {.port = name.sin_port, .count = 1};
    memcpy(there.route[0].address, &name.sin_addr, sizeof name.sin_addr);
    uccs_keepalive_connect(1, &there);
    for (int i = 0; i < 100 && calls < 20; i++) {
        serve(10);
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        calls++;
        struct handshake_hello hello;
        const struct handshake_challenge mine = {{(uint64_t)calls, 5}};
        CHECK(send(fd, &mine, sizeof mine, 0) == sizeof mine);
        serve(10);
        CHECK(recv(fd, &hello, sizeof hello, MSG_DONTWAIT) == sizeof hello);
        CHECK(handshake_verify(rte.node->nonce, &(struct handshake_hello){1, 0, 0, hello.challenge, hello.proof}, &mine,
                               0, 2) == false);
        uint64_t guess = hello.proof; /* its own words come back */
        CHECK(send(fd, &guess, sizeof guess, 0) == sizeof guess);
        serve(10);
        close(fd);
    }
    CHECK(calls >= 2 && calls < 20);
    close(listener);
}

static void interfaces(void)
{
    const char *why;
    uint32_t loopback = htonl(INADDR_LOOPBACK);
    uccs_keepalive_close();
    setenv("LATERAL_INTERFACE", "nosuch0", 1);
    CHECK(env_load(&why) == 0 && uccs_keepalive_open(&place) == -1);
    setenv("LATERAL_INTERFACE", "lo", 1);
    CHECK(env_load(&why) == 0 && uccs_keepalive_open(&place) == 0);
    CHECK(place.count == 1 && !place.route[0].six && memcmp(place.route[0].address, &loopback, sizeof loopback) == 0);
    int fd = call_door("127.0.0.1");
    CHECK(fd >= 0 && call_door("127.0.0.2") < 0); /* an address of this host that the door is not bound to */
    (void)challenge_at(fd);
    uccs_keepalive_close();
}

/* In a process of its own: a PE that cannot be called is named once, since its end may be noticed late. */
static void no_way(void)
{
    char text[1000] = "";
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof name;
    int said = memfd_create("said", MFD_CLOEXEC), nobody = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status;
    CHECK(said >= 0 && bind(nobody, (struct sockaddr *)&name, bytes) == 0); /* and nobody listens */
    CHECK(getsockname(nobody, (struct sockaddr *)&name, &bytes) == 0);
    struct routes there = {.port = name.sin_port, .count = 1};
    memcpy(there.route[0].address, &name.sin_addr, sizeof name.sin_addr);
    const pid_t child = fork();
    if (child == 0) {
        CHECK(dup2(said, STDERR_FILENO) >= 0);
        uccs_keepalive_connect(1, &there);
        serve(1300);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(pread(said, text, sizeof text - 1, 0) > 0);
    fputs(text, stderr);
    const char *line = strstr(text, "PE 1 cannot be called");
    CHECK(line && strstr(line, "LATERAL_INTERFACE") && strchr(line, '\n') == text + strlen(text) - 1);
    close(nobody);
    close(said);
}

int main(void)
{
    const char *why;
    unsetenv("LATERAL_INTERFACE");
    CHECK(env_load(&why) == 0 && rte_init() == 0);
    rte.nodes = 2;
    uccs_core.npes = 2;
    if (uccs_keepalive_open(&place) != 0 || !place.port) {
        fprintf(stderr, "this host has no address that others could call\n");
        return 77;
    }
    no_way();
    proofs();
    floods();
    strangers();
    interfaces();
    return 0;
}
