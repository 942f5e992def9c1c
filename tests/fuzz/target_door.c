/* What callers say at the door of the lines, and what called PEs answer. The first byte says who we are, and whether
 * the other end knows the key. */
#include "fuzz/fuzz.h"

#include "base/env.h"
#include "rte/rte.h"
#include "net/auth/auth.h"
#include "uccs/core/core.h"
#include "uccs/core/keepalive.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALLED = 1, KNOWS_KEY = 2 };

static struct routes mine, other; /* where this PE and the made-up one can be called */
static int listener;

static void listen_here(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof name;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    FUZZ_CHECK(bind(listener, (struct sockaddr *)&name, bytes) == 0 && listen(listener, 8) == 0);
    FUZZ_CHECK(getsockname(listener, (struct sockaddr *)&name, &bytes) == 0);
    other = (struct routes){.port = name.sin_port, .count = 1};
    memcpy(other.route[0].address, &name.sin_addr, sizeof name.sin_addr);
}

static void open_all(void)
{
    const char *why;
    setenv("LATERAL_INTERFACE", "lo", 1);
    FUZZ_CHECK(env_load(&why) == 0 && rte_init() == 0);
    rte.nodes = 2;
    uccs_core.npes = 2;
    listen_here();
}

/* Closes the connection without a trace: a port that rests after each input would be the last one soon. */
static void hang_up(int fd)
{
    const struct linger at_once = {1, 0};
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

/* The other end says the next bytes, and the library takes the news. Returns false when there are none left. */
static bool say(int fd, struct fuzz *fuzz, size_t most)
{
    const size_t now = fuzz->left < most ? fuzz->left : most;
    (void)!send(fd, fuzz->at, now, MSG_NOSIGNAL | MSG_DONTWAIT);
    fuzz->at += now;
    fuzz->left -= now;
    uccs_keepalive_poll();
    return now;
}

static void be_called(struct fuzz *fuzz, bool knows)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = mine.port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct handshake_challenge challenge;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof name) != 0) { /* others on this machine hold every port */
        close(fd);
        return;
    }
    uccs_keepalive_poll();
    if (knows && recv(fd, &challenge, sizeof challenge, MSG_DONTWAIT) == sizeof challenge) {
        struct handshake_hello hello = {.from = 1};
        handshake_sign(rte.node->nonce, &hello, &challenge);
        (void)!send(fd, &hello, sizeof hello, MSG_NOSIGNAL);
        uccs_keepalive_poll();
    }
    while (say(fd, fuzz, 16))
        continue;
    hang_up(fd);
}

/* The called PE has no other way. */
static void call_other(struct fuzz *fuzz)
{
    uccs_keepalive_connect(1, &other);
    uccs_keepalive_poll();
    for (int fd; fuzz->left && (fd = accept(listener, 0, 0)) >= 0; hang_up(fd))
        while (say(fd, fuzz, 8) && fuzz->left % 31)
            continue;
    uccs_keepalive_poll();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int opened;
    struct fuzz fuzz = {data, size};
    if (!opened++)
        open_all();
    FUZZ_CHECK(uccs_keepalive_open(&mine) == 0 && mine.port);
    uccs_keepalive_expect_end(); /* a connection that ends is no fault */
    const uint8_t how = fuzz_byte(&fuzz);
    if (how & CALLED)
        be_called(&fuzz, how & KNOWS_KEY);
    else
        call_other(&fuzz);
    uccs_keepalive_close();
    for (int fd; (fd = accept(listener, 0, 0)) >= 0;)
        hang_up(fd);
    return 0;
}
