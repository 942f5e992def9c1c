/* Messages arrive: buffers for them, credit, order.
 *
 * What arrives is not believed: who sends must know the worker's random number, which the launcher has told him, and lengths are
 * checked. */
#include "net/ofi/message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define LARGEST (sizeof(struct head) + sizeof(struct announcement) + OFI_HEADER + TRANSPORT_SHORT)
_Static_assert(LARGEST < OFI_CREDIT / 2 && LARGEST < OFI_RECEIVE_BYTES / 2, "any message gets its credit and a place");

/* A message that has come before its predecessors: providers match in the order of sending, and may complete in another. */
struct ofi_early {
    struct head head;
    size_t bytes;
    struct ofi_early *next;
    char what[];
};

static void give_credit(struct peer *peer, uint32_t bytes)
{
    peer->taken += bytes;
    if (peer->taken < OFI_CREDIT / 2 || peer->tells)
        return;
    peer->tells = true;
    if (ofi_send_control(peer, CREDIT, 0, 0) != 0)
        ofi_peer_broken(peer, fi_strerror(FI_ENOMEM));
}

static void take_hello(struct worker *worker, const struct head *head, const char *what, size_t bytes)
{
    struct hello hello = {0};
    if (bytes < offsetof(struct hello, name) || bytes >= sizeof hello ||
        ofi_peer_find(worker, (int)head->pe, head->worker))
        return;
    memcpy(&hello, what, bytes);
    const struct peer *peer = ofi_peer_add(worker, (int)head->pe, head->worker, hello.id, hello.name);
    if (peer) /* without memory its messages are not known */
        ofi_watch_peer(peer, &hello.watched);
}

static void take_short(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    if (bytes < head->header_bytes || bytes - head->header_bytes > TRANSPORT_SHORT)
        return;
    const size_t data = bytes - head->header_bytes;
    const struct transport_message message = {.header = what,
                                              .header_bytes = head->header_bytes,
                                              .data = data ? what + head->header_bytes : 0,
                                              .bytes = data};
    ofi_events->arrived(peer->worker->owner, &message);
}

/* Adds what a part brings. Returns false when that is too much, or without memory. */
static bool take_part(struct peer *peer, const char *what, size_t bytes)
{
    const size_t most = OFI_HEADER + TRANSPORT_SHORT;
    if (!peer->parts) {
        peer->parts = malloc(most);
        peer->part_bytes = 0;
    }
    if (!peer->parts || bytes > most - peer->part_bytes) {
        ofi_peer_broken(peer, fi_strerror(peer->parts ? FI_EMSGSIZE : FI_ENOMEM));
        return false;
    }
    memcpy(peer->parts + peer->part_bytes, what, bytes);
    peer->part_bytes += bytes;
    return true;
}

static void take_last(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    const bool good = take_part(peer, what, bytes);
    char *whole = peer->parts;
    peer->parts = 0;
    if (good)
        take_short(peer, head, whole, peer->part_bytes);
    free(whole);
}

static void take_counted(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    peer->got++;
    if (head->kind == PART)
        (void)take_part(peer, what, bytes);
    else if (head->kind == LONG)
        ofi_take_long(peer, head, what, bytes);
    else
        (peer->parts ? take_last : take_short)(peer, head, what, bytes);
    give_credit(peer, (uint32_t)(sizeof *head + bytes));
}

static void keep_early(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    struct ofi_early *early = malloc(sizeof *early + bytes), **at = &peer->early;
    if (!early) {
        ofi_peer_broken(peer, fi_strerror(FI_ENOMEM));
        return;
    }
    early->head = *head;
    early->bytes = bytes;
    memcpy(early->what, what, bytes);
    while (*at && (*at)->head.number - peer->got < head->number - peer->got)
        at = &(*at)->next;
    early->next = *at;
    *at = early;
}

static void take_in_order(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    if (head->number != peer->got) {
        keep_early(peer, head, what, bytes);
        return;
    }
    take_counted(peer, head, what, bytes);
    while (peer->early && peer->early->head.number == peer->got) {
        struct ofi_early *early = peer->early;
        peer->early = early->next;
        take_counted(peer, &early->head, early->what, early->bytes);
        free(early);
    }
}

static void take_message(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    struct clearance clear;
    peer->credit += head->taken;
    switch (head->kind) {
    case SHORT:
    case PART:
    case LONG: take_in_order(peer, head, what, bytes); break;
    case CLEAR:
        if (bytes == sizeof clear) {
            memcpy(&clear, what, sizeof clear);
            ofi_send_cleared(peer, &clear);
        }
        break;
    default: break;
    }
}

static void take_bytes(struct worker *worker, const char *bytes, size_t length)
{
    struct head head;
    if (length < sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    if (head.id != worker->id || head.pe >= (uint32_t)ofi_npes)
        return;
    if (head.kind == HELLO) /* it may leave late, and then tells what has been taken, too */
        take_hello(worker, &head, bytes + sizeof head, length - sizeof head);
    struct peer *peer = ofi_peer_find(worker, (int)head.pe, head.worker);
    if (peer)
        take_message(peer, &head, bytes + sizeof head, length - sizeof head);
}

/* --- Buffers */

static int post_buffer(struct ofi_receive *receive)
{
    const struct iovec bytes = {receive->bytes, OFI_RECEIVE_BYTES};
    const struct fi_msg message = {.msg_iov = &bytes,
                                   .desc = &receive->worker->desc,
                                   .iov_count = 1,
                                   .addr = FI_ADDR_UNSPEC,
                                   .context = &receive->op.context};
    receive->spent = false;
    receive->came = receive->end = 0;
    return fi_recvmsg(receive->worker->endpoint, &message, FI_MULTI_RECV) == 0 ? 0 : -1;
}

/* Returns whether the provider writes no more to the buffer. rxd of libfabric 1.17 gives a buffer back with the end of the message that was
 * the last to start, while pieces of others still come; its messages lie side by side. */
static bool is_free(const struct ofi_receive *receive)
{
    return receive->spent && (!ofi_is_rxd() || receive->came == receive->end);
}

void ofi_take(struct ofi_receive *receive, const char *bytes, size_t length, bool spent)
{
    const size_t end = bytes ? (size_t)(bytes - receive->bytes) + length : 0;
    receive->spent |= spent;
    receive->came += length;
    receive->end = end > receive->end ? end : receive->end;
    take_bytes(receive->worker, bytes, length);
    if (is_free(receive) && post_buffer(receive) != 0)
        ofi_events->broken(receive->worker->owner, ofi_me, "libfabric takes no buffer for messages");
}

int ofi_receives_open(struct worker *worker)
{
    const size_t largest = LARGEST;
    if (fi_setopt(&worker->endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &largest, sizeof largest) != 0 ||
        ofi_buffers_open(worker) != 0)
        return -1;
    for (int i = 0; i < OFI_RECEIVES; i++) {
        struct ofi_receive *receive = &worker->receives[i];
        receive->worker = worker;
        receive->bytes = worker->buffers + (size_t)i * OFI_RECEIVE_BYTES;
        if (post_buffer(receive) != 0)
            return -1;
    }
    return 0;
}

void ofi_receives_free(struct worker *worker)
{
    for (int pe = 0; worker->peers && pe < ofi_npes; pe++)
        for (struct peer *peer = worker->peers[pe]; peer; peer = peer->next)
            while (peer->early) {
                struct ofi_early *early = peer->early;
                peer->early = early->next;
                free(early);
            }
}
