/* Long data. It is announced (LONG); when the receiver knows its place, it posts tagged receives there and clears the sender to send
 * (CLEAR), so that the provider moves the data from place to place. */
#include "net/ofi/message.h"

#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>

/* Data that moves in pieces: of a long message, out or in. */
struct piece {
    struct ofi_op op;
    struct transfer *of;
    char *at;
    size_t bytes;
    uint64_t tag;
};
struct transfer {
    void *token;
    uint32_t left;
    bool failed;
    struct piece pieces[];
};

/* A long message that has been announced. */
struct ofi_long {
    struct peer *peer;
    uint64_t number;
    const void *data;
    size_t bytes;
    void *token;
    struct ofi_long *next;
};

struct ofi_late {
    struct peer *peer;
    struct announcement what;
    struct ofi_late *next;
};

enum transport_status ofi_send_long(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                    size_t bytes, void *token)
{
    struct worker *worker = peer->worker;
    struct ofi_long *made = malloc(sizeof *made);
    struct message *message = ofi_message_new(peer, LONG, header_bytes, header_bytes + sizeof(struct announcement));
    if (!made || !message) {
        free(made);
        free(message);
        return TRANSPORT_FAILED;
    }
    *made = (struct ofi_long){peer, worker->serial++, data, bytes, token, worker->longs};
    worker->longs = made;
    const struct announcement what = {made->number, bytes};
    memcpy(message->own, header, header_bytes);
    memcpy(message->own + header_bytes, &what, sizeof what);
    ofi_message_start(message, message->length);
    return TRANSPORT_PENDING;
}

static ssize_t post_out(struct ofi_op *op)
{
    const struct piece *piece = (struct piece *)op;
    void *at = piece->at, *desc = 0;
    const int status = ofi_local ? ofi_use(op, &at, piece->bytes, FI_SEND, &desc) : 0;
    return status
               ? status
               : fi_tsend(op->peer->worker->endpoint, at, piece->bytes, desc, op->peer->to, piece->tag, &op->context);
}

static ssize_t post_in(struct ofi_op *op)
{
    const struct piece *piece = (struct piece *)op;
    void *at = piece->at, *desc = 0;
    const int status = ofi_local ? ofi_use(op, &at, piece->bytes, FI_RECV, &desc) : 0;
    return status ? status
                  : fi_trecv(op->peer->worker->endpoint, at, piece->bytes, desc, FI_ADDR_UNSPEC, piece->tag, 0,
                             &op->context);
}

static void end_piece(struct ofi_op *op, int error)
{
    struct transfer *transfer = ((struct piece *)op)->of;
    struct peer *peer = op->peer;
    transfer->failed |= error != 0;
    if (error > 0)
        ofi_peer_broken(peer, fi_strerror(error));
    if (--transfer->left)
        return;
    void *token = transfer->token;
    const bool failed = transfer->failed;
    free(transfer);
    if (error >= 0)
        ofi_events->finished(token, failed);
}

static size_t piece_bytes(void)
{
    const size_t most = (size_t)1 << 30;
    return ofi_info->ep_attr->max_msg_size < most ? ofi_info->ep_attr->max_msg_size : most;
}

static uint32_t count_pieces(size_t bytes)
{
    return (uint32_t)((bytes + piece_bytes() - 1) / piece_bytes());
}

static struct transfer *new_transfer(uint32_t pieces, void *token)
{
    struct transfer *transfer = malloc(sizeof *transfer + pieces * sizeof(struct piece));
    if (transfer)
        *transfer = (struct transfer){.token = token, .left = pieces};
    return transfer;
}

/* The last piece may end at once, and the transfer with it. */
static void start_transfer(struct transfer *transfer, struct peer *peer, ssize_t (*post)(struct ofi_op *), char *at,
                           size_t bytes, uint64_t tag)
{
    const uint32_t pieces = transfer->left;
    for (uint32_t i = 0; i < pieces; i++) {
        const size_t from = i * piece_bytes(), left = bytes - from;
        struct piece *piece = &transfer->pieces[i];
        *piece = (struct piece){.op = {.post = post, .end = end_piece, .peer = peer},
                                .of = transfer,
                                .at = at + from,
                                .bytes = left < piece_bytes() ? left : piece_bytes(),
                                .tag = tag + i};
        ofi_start(&piece->op, true);
    }
}

enum transport_status ofi_receive(void *on, void *rest, void *into, size_t bytes, void *token)
{
    struct worker *worker = on;
    struct ofi_late *late = rest, **at = &worker->lates;
    struct peer *peer = late->peer;
    const uint32_t pieces = count_pieces(bytes);
    struct transfer *transfer = new_transfer(pieces, token);
    struct message *message = ofi_message_new(peer, CLEAR, 0, sizeof(struct clearance));
    if (!transfer || !message || bytes != late->what.bytes) {
        free(transfer);
        free(message);
        return TRANSPORT_FAILED;
    }
    const struct clearance clear = {late->what.number, worker->serial};
    worker->serial += pieces;
    memcpy(message->own, &clear, sizeof clear);
    while (*at != late)
        at = &(*at)->next;
    *at = late->next;
    free(late);
    start_transfer(transfer, peer, post_in, into, bytes, clear.tag);
    ofi_start(&message->op, true);
    return TRANSPORT_PENDING;
}

void ofi_send_cleared(struct peer *peer, const struct clearance *clear)
{
    struct ofi_long **at = &peer->worker->longs;
    while (*at && ((*at)->number != clear->number || (*at)->peer != peer))
        at = &(*at)->next;
    struct ofi_long *what = *at;
    if (!what)
        return;
    struct transfer *transfer = new_transfer(count_pieces(what->bytes), what->token);
    *at = what->next;
    if (transfer)
        start_transfer(transfer, peer, post_out, (char *)(uintptr_t)what->data, what->bytes, clear->tag);
    else
        ofi_peer_broken(peer, fi_strerror(FI_ENOMEM));
    free(what);
}

void ofi_take_long(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    struct worker *worker = peer->worker;
    struct announcement announcement;
    if (bytes != head->header_bytes + sizeof announcement)
        return;
    memcpy(&announcement, what + head->header_bytes, sizeof announcement);
    struct ofi_late *late = announcement.bytes > TRANSPORT_SHORT ? malloc(sizeof *late) : 0;
    if (!late) {
        ofi_peer_broken(peer, fi_strerror(FI_ENOMEM));
        return;
    }
    *late = (struct ofi_late){peer, announcement, worker->lates};
    worker->lates = late;
    const struct transport_message message = {.header = what,
                                              .header_bytes = head->header_bytes,
                                              .bytes = announcement.bytes,
                                              .rest = late};
    ofi_events->arrived(worker->owner, &message);
}

void ofi_longs_free(struct worker *worker)
{
    while (worker->longs) {
        struct ofi_long *what = worker->longs;
        worker->longs = what->next;
        free(what);
    }
    while (worker->lates) {
        struct ofi_late *late = worker->lates;
        worker->lates = late->next;
        free(late);
    }
}
