/* What a connected process sends over TCP: bytes in pieces, to a worker of the transport. The first byte says how long data is received:
 * at once, when some more has come, or never. */
#include "fuzz/fuzz.h"

#include "net/auth/auth.h"
#include "net/tcp/inner.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { AT_ONCE, SOON, NEVER, HOWS };
enum { PIECE = 61, KEPT = 8, MOST = 1 << 20, LOOKS = 20 };

extern const struct transport lateral_transport;
static const struct transport *tcp = &lateral_transport;

static struct kept {
    void *rest;
    size_t bytes;
    char *into;
    bool pending;
} kept[KEPT];
static void *worker;
static int how;
static bool over;    /* the connection is given up */
static uint64_t sum; /* of all bytes, so that each is read */

static void take(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum += ((const unsigned char *)bytes)[i];
}

static void receive_kept(struct kept *of)
{
    void *rest = of->rest;
    of->rest = 0;
    FUZZ_CHECK(of->into = malloc(of->bytes));
    const enum transport_status status = tcp->receive(worker, rest, of->into, of->bytes, of);
    FUZZ_CHECK(status != TRANSPORT_FAILED);
    of->pending = status == TRANSPORT_PENDING;
    if (!of->pending)
        take(of->into, of->bytes);
}

static void arrived(void *owner, const struct transport_message *message)
{
    (void)owner;
    FUZZ_CHECK(message->header_bytes <= TCP_HEADER && (message->rest != 0) == (message->bytes > TRANSPORT_SHORT));
    take(message->header, message->header_bytes);
    if (!message->rest) {
        take(message->data, message->bytes);
        return;
    }
    struct kept *at = kept;
    while (at < kept + KEPT && (at->rest || at->into))
        at++;
    if (message->bytes > MOST || at == kept + KEPT)
        return; /* never received */
    at->rest = message->rest;
    at->bytes = message->bytes;
    if (how == AT_ONCE)
        receive_kept(at);
}

static void finished(void *token, int failed)
{
    struct kept *at = token;
    FUZZ_CHECK(at->pending && !failed);
    at->pending = false;
    take(at->into, at->bytes);
}

static void broken(void *owner, int pe, const char *why)
{
    (void)owner;
    FUZZ_CHECK(pe == 1 && why && *why);
    over = true;
}

/* Reads from the connection what the worker's process has to say before the first message. */
static bool hear(int fd, void *bytes, size_t count)
{
    for (int i = 0; i < LOOKS; i++) {
        (void)tcp->progress(worker);
        if (recv(fd, bytes, count, MSG_DONTWAIT) == (ssize_t)count)
            return true;
    }
    return false;
}

/* Calls the worker as PE 1 does, and proves that it knows the key. Returns -1 where the machine has no port left for a moment. */
static int call(void)
{
    const struct linger at_once = {1, 0}; /* no port stays taken */
    struct tcp_address there;
    size_t bytes = sizeof there;
    uint64_t answer;
    struct handshake_challenge challenge;
    struct handshake_hello hello = {.from = 1, .word = 77};
    FUZZ_CHECK(tcp->address(worker, &there, &bytes) == 0);
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = there.routes.port,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 && hear(fd, &challenge, sizeof challenge)) {
        handshake_sign(there.key, &hello, &challenge);
        (void)!send(fd, &hello, sizeof hello, MSG_NOSIGNAL);
        if (hear(fd, &answer, sizeof answer))
            return fd;
    }
    close(fd);
    return -1;
}

static void say_all(int fd, struct fuzz *fuzz)
{
    while (fuzz->left && !over) {
        const size_t now = fuzz->left < PIECE ? fuzz->left : PIECE;
        (void)!send(fd, fuzz->at, now, MSG_NOSIGNAL | MSG_DONTWAIT);
        fuzz->at += now;
        fuzz->left -= now;
        (void)tcp->progress(worker);
        for (int i = 0; how == SOON && !over && i < KEPT; i++)
            if (kept[i].rest && fuzz->left % 3 == 0)
                receive_kept(&kept[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct transport_events events = {arrived, finished, broken};
    struct fuzz fuzz = {data, size};
    over = false;
    how = fuzz_byte(&fuzz) % HOWS;
    setenv("LATERAL_INTERFACE", "lo", 1);
    FUZZ_CHECK(!tcp->open(&events, 0, 2, 0));
    if (!tcp->open_worker(&worker, &worker)) {
        const int fd = call();
        if (fd >= 0) {
            say_all(fd, &fuzz);
            close(fd);
        }
    }
    tcp->close();
    for (int i = 0; i < KEPT; i++)
        free(kept[i].into);
    memset(kept, 0, sizeof kept);
    return 0;
}
