/* Short messages and the messages about messages leave; message.h has the wire format.
 *
 * The head of each message tells how many bytes of earlier ones have been taken from the peer; where none goes that way, a
 * message of its own (CREDIT) tells it. HELLO, CLEAR, CREDIT and NOTHING need no credit, so no two peers wait for each other. */
#include "net/ofi/message.h"

#include "base/atomic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

static struct head head_for(const struct peer *peer, enum kind kind, size_t header_bytes)
{
    return (struct head){.id = peer->id,
                         .pe = (uint32_t)ofi_me,
                         .worker = peer->worker->number,
                         .kind = (uint8_t)kind,
                         .header_bytes = (uint16_t)header_bytes};
}

static void message_left(struct peer *peer)
{
    peer->taken = 0;
    peer->tells = false;
    peer->unconfirmed = true;
}

/* Sends the message from a cell. */
static ssize_t post_copied(struct message *message, uint64_t flags)
{
    struct peer *peer = message->op.peer;
    void *desc;
    char *cell = ofi_cell(&message->op, &desc);
    if (!cell)
        return -FI_EAGAIN;
    memcpy(cell, &message->head, message->length);
    if (message->data)
        memcpy(cell + message->length, message->data, message->bytes);
    const struct iovec piece = {cell, message->length + message->bytes};
    const struct fi_msg what = {&piece, &desc, 1, peer->to, &message->op.context, 0};
    return fi_sendmsg(peer->worker->endpoint, &what, flags);
}

static ssize_t post_message(struct ofi_op *op)
{
    struct message *message = (struct message *)op;
    struct peer *peer = op->peer;
    struct fid_ep *endpoint = peer->worker->endpoint;
    message->head.taken = peer->taken;
    ssize_t status;
    if (lat_unlikely(ofi_local)) {
        status = post_copied(message, 0);
    } else if (message->data) {
        const struct iovec pieces[] = {{&message->head, message->length},
                                       {(void *)(uintptr_t)message->data, message->bytes}};
        status = fi_sendv(endpoint, pieces, 0, 2, peer->to, &op->context);
    } else {
        status = fi_send(endpoint, &message->head, message->length, 0, peer->to, &op->context);
    }
    if (status == 0)
        message_left(peer);
    return status;
}

static void end_message(struct ofi_op *op, int error)
{
    struct message *message = (struct message *)op, *last = message->last;
    struct peer *peer = op->peer;
    last->failed |= error != 0;
    const bool over = --last->left == 0, failed = last->failed;
    void *token = last->token;
    if (message != last)
        free(message);
    if (over)
        free(last);
    if (error > 0)
        ofi_peer_broken(peer, fi_strerror(error));
    if (over && token && error >= 0)
        ofi_events->finished(token, failed);
}

struct message *ofi_message_new(struct peer *peer, enum kind kind, size_t header_bytes, size_t own)
{
    struct message *message = malloc(sizeof *message + own);
    if (!message)
        return 0;
    *message = (struct message){.op = {.post = post_message, .end = end_message, .peer = peer},
                                .length = sizeof(struct head) + own,
                                .last = message,
                                .left = 1,
                                .head = head_for(peer, kind, header_bytes)};
    return message;
}

int ofi_send_control(struct peer *peer, enum kind kind, const void *what, size_t bytes)
{
    struct message *message = ofi_message_new(peer, kind, 0, bytes);
    if (!message)
        return -1;
    if (bytes)
        memcpy(message->own, what, bytes);
    ofi_start(&message->op, true);
    return 0;
}

int ofi_say_hello(struct peer *peer)
{
    struct hello hello = {.id = peer->worker->id, .watched = peer->worker->watched};
    size_t bytes = sizeof hello.name;
    if (fi_getname(&peer->worker->endpoint->fid, hello.name, &bytes) != 0)
        return -1;
    return ofi_send_control(peer, HELLO, &hello, offsetof(struct hello, name) + bytes);
}

/* A provider may hold back what it has taken, until progress lets it leave. The progress thread serves worker 0 always, the others while a
 * message of theirs has not ended. */
static bool leaves_at_once(const struct worker *worker)
{
    return !worker->number || ofi_info->domain_attr->data_progress == FI_PROGRESS_AUTO;
}

/* Returns false when it must go in another way. */
static bool inject_message(struct peer *peer, const void *header, size_t header_bytes, const void *data, size_t bytes)
{
    char room[4 << 10];
    const size_t length = sizeof(struct head) + header_bytes + bytes;
    if (length > sizeof room || length > ofi_info->tx_attr->inject_size || !ofi_peer_ready(peer, (uint32_t)length) ||
        peer->broken || !leaves_at_once(peer->worker))
        return false;
    struct head head = head_for(peer, SHORT, header_bytes);
    head.taken = peer->taken;
    head.number = peer->sent;
    memcpy(room, &head, sizeof head);
    memcpy(room + sizeof head, header, header_bytes);
    if (bytes)
        memcpy(room + sizeof head + header_bytes, data, bytes);
    if (fi_inject(peer->worker->endpoint, room, length, peer->to) != 0)
        return false;
    peer->credit -= (uint32_t)length;
    peer->sent++;
    message_left(peer);
    return true;
}

void ofi_message_start(struct message *message, size_t bytes)
{
    message->head.number = message->op.peer->sent++;
    message->op.credit = (uint32_t)bytes;
    ofi_start(&message->op, false);
}

/* Returns the bytes of the longest message that leaves at once. What is longer than its buffers rxm sends in pieces, of which each
 * waits for an answer. */
static size_t longest_message(void)
{
    return ofi_info->ep_attr->protocol == FI_PROTO_RXM ? (size_t)16 << 10 : SIZE_MAX;
}

/* Returns a message with a header, or none, and data; null without memory. */
static struct message *new_short(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                 size_t bytes)
{
    const bool copies = bytes && ofi_info->tx_attr->iov_limit < 2;
    struct message *message = ofi_message_new(peer, SHORT, header_bytes, header_bytes + (copies ? bytes : 0));
    if (!message)
        return 0;
    memcpy(message->own, header, header_bytes);
    if (copies) {
        memcpy(message->own + header_bytes, data, bytes);
    } else if (bytes) {
        message->data = data;
        message->bytes = bytes;
    }
    return message;
}

/* The last part has no header of its own; its head tells the length of the one that came with the first. */
static void start_parts(struct message **parts, uint32_t count, size_t header_bytes, void *token)
{
    struct message *last = parts[count - 1];
    last->token = token;
    last->left = count;
    last->head.header_bytes = (uint16_t)header_bytes;
    for (uint32_t i = 0; i < count; i++) {
        parts[i]->last = last;
        if (i + 1 < count)
            parts[i]->head.kind = PART;
        ofi_message_start(parts[i], parts[i]->length + parts[i]->bytes);
    }
}

enum transport_status ofi_send_short(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                     size_t bytes, void *token)
{
    enum { PARTS = 4 };
    const size_t most = longest_message() - sizeof(struct head);
    struct message *parts[PARTS];
    uint32_t count = 0;
    if (inject_message(peer, header, header_bytes, data, bytes))
        return TRANSPORT_DONE;
    for (size_t done = 0, part; !count || done < bytes; done += part) {
        const size_t own = count ? 0 : header_bytes;
        part = bytes - done < most - own ? bytes - done : most - own;
        parts[count] = new_short(peer, header, own, bytes ? (const char *)data + done : 0, part);
        if (!parts[count]) {
            while (count)
                free(parts[--count]);
            return TRANSPORT_FAILED;
        }
        count++;
    }
    start_parts(parts, count, header_bytes, token);
    return TRANSPORT_PENDING; /* as long as progress must be made for it, even where it has been copied */
}

/* --- Draining */

/* What was injected has left when a later message to the peer has. */
static ssize_t post_nothing(struct ofi_op *op)
{
    struct message *message = (struct message *)op;
    const struct iovec piece = {&message->head, message->length};
    const struct fi_msg what = {.msg_iov = &piece, .iov_count = 1, .addr = op->peer->to, .context = &op->context};
    const ssize_t status = ofi_local ? post_copied(message, FI_TRANSMIT_COMPLETE)
                                     : fi_sendmsg(op->peer->worker->endpoint, &what, FI_TRANSMIT_COMPLETE);
    if (status == 0)
        op->peer->unconfirmed = false;
    return status;
}

static void confirm_peer(struct peer *peer)
{
    struct message *message = ofi_message_new(peer, NOTHING, 0, 0);
    if (!message)
        return; /* the next call tries again */
    message->op.post = post_nothing;
    ofi_start(&message->op, false);
}

bool ofi_confirm(struct worker *worker)
{
    bool all = true;
    for (int pe = 0; pe < ofi_npes; pe++)
        for (struct peer *peer = worker->peers[pe]; peer; peer = peer->next)
            if (peer->unconfirmed && !peer->broken && !peer->control.first && !peer->data.first) {
                all = false;
                confirm_peer(peer);
            }
    return all && !worker->under_way && !worker->longs;
}
