/* What a connected process sends over TCP: bytes in pieces, read by a lane. The first byte says how long data is received: at once, when
 * some more has come, or never. */
#include "fuzz/fuzz.h"

#include "net/tcp/inner.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { AT_ONCE, SOON, NEVER, HOWS };
enum { PIECE = 61, KEPT = 8, MOST = 1 << 20 };

const struct transport_events *tcp_events;
int tcp_me, tcp_npes = 2;

static struct {
    struct late *rest;
    size_t bytes;
    char *into;
} kept[KEPT];
static int how, pending;
static uint64_t sum; /* of all bytes, so that each is read */
static jmp_buf home;

static void take(const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum += ((const unsigned char *)bytes)[i];
}

static void receive_kept(int i)
{
    char *into = kept[i].into = malloc(kept[i].bytes);
    if (tcp_receive(0, kept[i].rest, into, kept[i].bytes, into) == TRANSPORT_DONE) {
        take(into, kept[i].bytes);
        free(into);
    } else {
        pending++;
    }
    kept[i].rest = 0;
}

static void arrived(void *owner, const struct transport_message *message)
{
    (void)owner;
    if (message->header_bytes > TCP_HEADER || (message->rest != 0) != (message->bytes > TRANSPORT_SHORT))
        abort();
    take(message->header, message->header_bytes);
    if (!message->rest) {
        take(message->data, message->bytes);
        return;
    }
    if (message->bytes > MOST)
        longjmp(home, 1); /* the library's checks refuse it */
    int i = 0;
    while (i < KEPT && kept[i].rest)
        i++;
    if (i == KEPT)
        longjmp(home, 1);
    kept[i].rest = message->rest;
    kept[i].bytes = message->bytes;
    if (how == AT_ONCE)
        receive_kept(i);
}

static void finished(void *token, int failed)
{
    if (failed || !pending--)
        abort();
    free(token);
}

static void broken(void *owner, int pe, const char *why)
{
    (void)owner, (void)pe, (void)why;
    longjmp(home, 1);
}

/* peer.c's, of which there is one connection here. */
void tcp_peer_broken(struct peer *peer, int error)
{
    (void)error;
    broken(0, peer->pe, "");
}

static void read_all(struct peer *peer, int other, struct fuzz *fuzz)
{
    while (fuzz->left) {
        const size_t now = fuzz->left < PIECE ? fuzz->left : PIECE;
        (void)!write(other, fuzz->at, now);
        fuzz->at += now;
        fuzz->left -= now;
        (void)tcp_read(peer);
        for (int i = 0; how == SOON && i < KEPT; i++)
            if (kept[i].rest && fuzz->left % 3 == 0)
                receive_kept(i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct transport_events events = {arrived, finished, broken};
    struct fuzz fuzz = {data, size};
    struct lane lane = {.buffer = malloc(TCP_BUFFER)};
    struct peer *peer = calloc(1, sizeof *peer);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
        abort();
    memset(kept, 0, sizeof kept);
    pending = 0;
    tcp_events = &events;
    how = fuzz_byte(&fuzz) % HOWS;
    *peer = (struct peer){.lane = &lane, .pe = 1, .fd = ends[0]};
    if (setjmp(home) == 0)
        read_all(peer, ends[1], &fuzz);
    if (peer->rest && !peer->rest->own) {
        free(peer->rest->token);
        free(peer->rest);
    }
    tcp_late_close(&lane);
    free(peer->part);
    free(peer);
    free(lane.spare);
    free(lane.buffer);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
