/* Short messages, and the messages about messages.
 *
 * The head of each message tells how many bytes of earlier ones have been taken from the peer; where none goes that way, a
 * message of its own (CREDIT) tells it. HELLO, CLEAR, CREDIT and NOTHING need no credit, so no two peers wait for each other.
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

/* --- Sending */

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
    peer->unconfirmed = true;
}

static ssize_t post_message(struct ofi_op *op)
{
    struct message *message = (struct message *)op;
    struct peer *peer = op->peer;
    struct fid_ep *endpoint = peer->worker->endpoint;
    message->head.taken = peer->taken;
    ssize_t status;
    if (message->data) {
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
    struct message *message = (struct message *)op;
    void *token = message->token;
    struct peer *peer = op->peer;
    free(message);
    if (error > 0)
        ofi_peer_broken(peer, error);
    if (token && error >= 0)
        ofi_events->finished(token, error != 0);
}

struct message *ofi_message_new(struct peer *peer, enum kind kind, size_t header_bytes, size_t own)
{
    struct message *message = malloc(sizeof *message + own);
    if (!message)
        return 0;
    *message = (struct message){.op = {.post = post_message, .end = end_message, .peer = peer},
                                .length = sizeof(struct head) + own,
                                .head = head_for(peer, kind, header_bytes)};
    return message;
}

static int send_control(struct peer *peer, enum kind kind, const void *what, size_t bytes)
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
    struct {
        uint32_t id;
        char name[OFI_NAME];
    } hello = {.id = peer->worker->id};
    size_t bytes = sizeof hello.name;
    if (fi_getname(&peer->worker->endpoint->fid, hello.name, &bytes) != 0)
        return -1;
    return send_control(peer, HELLO, &hello, sizeof hello.id + bytes);
}

/* Returns false when it must go in another way. */
static bool inject(struct peer *peer, const void *header, size_t header_bytes, const void *data, size_t bytes)
{
    char room[4 << 10];
    const size_t length = sizeof(struct head) + header_bytes + bytes;
    if (length > sizeof room || length > ofi_info->tx_attr->inject_size || !ofi_peer_ready(peer, (uint32_t)length) ||
        peer->broken)
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

static enum transport_status send_short(struct peer *peer, const void *header, size_t header_bytes, const void *data,
                                        size_t bytes, void *token)
{
    if (inject(peer, header, header_bytes, data, bytes))
        return TRANSPORT_DONE;
    const bool copies = bytes && ofi_info->tx_attr->iov_limit < 2;
    struct message *message = ofi_message_new(peer, SHORT, header_bytes, header_bytes + (copies ? bytes : 0));
    if (!message)
        return TRANSPORT_FAILED;
    memcpy(message->own, header, header_bytes);
    if (copies) {
        memcpy(message->own + header_bytes, data, bytes);
    } else if (bytes) {
        message->data = data;
        message->bytes = bytes;
    }
    message->token = token;
    ofi_message_start(message, sizeof(struct head) + header_bytes + bytes);
    return TRANSPORT_PENDING; /* as long as progress must be made for it, even where it has been copied */
}

enum transport_status ofi_send(void *to, const void *header, size_t header_bytes, const void *data, size_t bytes,
                               void *token)
{
    struct peer *peer = to;
    if (peer->broken || header_bytes > OFI_HEADER)
        return TRANSPORT_FAILED;
    return (bytes <= TRANSPORT_SHORT ? send_short : ofi_send_long)(peer, header, header_bytes, data, bytes, token);
}

/* --- Arrival */

static void give_credit(struct peer *peer, uint32_t bytes)
{
    peer->taken += bytes;
    if (peer->taken >= OFI_CREDIT / 2 && !peer->control.first && send_control(peer, CREDIT, 0, 0) != 0)
        ofi_peer_broken(peer, FI_ENOMEM);
}

static void take_hello(struct worker *worker, const struct head *head, const char *what, size_t bytes)
{
    char name[OFI_NAME + 1] = {0};
    uint32_t id;
    if (bytes < sizeof id || bytes > sizeof id + OFI_NAME || ofi_peer_find(worker, (int)head->pe, head->worker))
        return;
    memcpy(&id, what, sizeof id);
    memcpy(name, what + sizeof id, bytes - sizeof id);
    (void)ofi_peer_add(worker, (int)head->pe, head->worker, id, name); /* without memory its messages are not known */
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

static void take_counted(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    peer->got++;
    (head->kind == SHORT ? take_short : ofi_take_long)(peer, head, what, bytes);
    give_credit(peer, (uint32_t)(sizeof *head + bytes));
}

static void keep_early(struct peer *peer, const struct head *head, const char *what, size_t bytes)
{
    struct ofi_early *early = malloc(sizeof *early + bytes), **at = &peer->early;
    if (!early) {
        ofi_peer_broken(peer, FI_ENOMEM);
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
    if (head.kind == HELLO) {
        take_hello(worker, &head, bytes + sizeof head, length - sizeof head);
        return;
    }
    struct peer *peer = ofi_peer_find(worker, (int)head.pe, head.worker);
    if (peer)
        take_message(peer, &head, bytes + sizeof head, length - sizeof head);
}

/* --- Buffers */

static int post_buffer(struct ofi_receive *receive)
{
    const struct iovec bytes = {receive->bytes, OFI_RECEIVE_BYTES};
    const struct fi_msg message = {.msg_iov = &bytes,
                                   .iov_count = 1,
                                   .addr = FI_ADDR_UNSPEC,
                                   .context = &receive->op.context};
    return fi_recvmsg(receive->worker->endpoint, &message, FI_MULTI_RECV) == 0 ? 0 : -1;
}

void ofi_take(struct ofi_receive *receive, const char *bytes, size_t length, bool spent)
{
    take_bytes(receive->worker, bytes, length);
    if (spent && post_buffer(receive) != 0)
        ofi_events->broken(receive->worker->owner, ofi_me, "libfabric takes no buffer for messages");
}

int ofi_receives_open(struct worker *worker)
{
    const size_t largest = LARGEST;
    if (fi_setopt(&worker->endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &largest, sizeof largest) != 0)
        return -1;
    for (int i = 0; i < OFI_RECEIVES; i++) {
        struct ofi_receive *receive = &worker->receives[i];
        receive->worker = worker;
        receive->bytes = malloc(OFI_RECEIVE_BYTES);
        if (!receive->bytes || post_buffer(receive) != 0)
            return -1;
    }
    return 0;
}

/* --- Draining, end */

/* What was injected has left when a later message to the peer has. */
static ssize_t post_nothing(struct ofi_op *op)
{
    struct message *message = (struct message *)op;
    const struct iovec piece = {&message->head, message->length};
    const struct fi_msg what = {.msg_iov = &piece, .iov_count = 1, .addr = op->peer->to, .context = &op->context};
    const ssize_t status = fi_sendmsg(op->peer->worker->endpoint, &what, FI_TRANSMIT_COMPLETE);
    if (status == 0)
        op->peer->unconfirmed = false;
    return status;
}

static void confirm(struct peer *peer)
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
                confirm(peer);
            }
    return all && !worker->under_way && !worker->longs;
}

void ofi_messages_free(struct worker *worker)
{
    ofi_longs_free(worker);
    for (int pe = 0; worker->peers && pe < ofi_npes; pe++)
        for (struct peer *peer = worker->peers[pe]; peer; peer = peer->next)
            while (peer->early) {
                struct ofi_early *early = peer->early;
                peer->early = early->next;
                free(early);
            }
    for (int i = 0; i < OFI_RECEIVES; i++)
        free(worker->receives[i].bytes);
}
