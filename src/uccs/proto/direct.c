/* Puts, gets and atomics that the transport's network does by itself. Under the worker's lock, unless a comment says otherwise.
 * docs/internals/onesided.md explains the order between these and messages.
 *
 * Atomics on the adapter's part of the heap (core/memory.h; initiator.h). Invariant: nothing else changes a word there that a program
 * accesses by atomics. So PEs of the target's node, and the target itself, go through the adapter, too, and the operation is done when the
 * call returns, as all operations on the node are. A processor's loads see what the adapter has stored. */
#include "uccs/proto/inner.h"

#include "uccs/core/memory.h"
#include "uccs/proto/initiator.h"

#include <stdlib.h>

/* An operation under way. A put or get may be several of the transport's: one per piece of memory that it touches. */
struct transfer {
    struct proto_sent_token token;
    struct proto_peer *peer;
    uint32_t parts;
    bool failed;
    struct uccs_import *use;         /* of a region; else null */
    uint64_t number;                 /* of a put or an atomic, among the puts to the peer */
    struct proto_log_peer *log_peer; /* of a put; may be null */
    struct proto_send *send;         /* of a put: holds what is to be done once the source is free; else null */
    struct proto_pending *ask;       /* of a get; of an atomic whose old value is wanted; else null */
    struct transport_word word;      /* of an atomic; its size is 0 otherwise */
    uint64_t old;                    /* of a swap whose old value is not wanted */
};

/* --- Which operations */

/* Returns null when the transport has no such operations to the peer, or none yet. */
static struct proto_direct *direct_of(struct proto_peer *peer)
{
    if (lat_likely(peer->direct || !peer->to))
        return peer->direct;
    const unsigned able = proto_transport->able(peer->to);
    if (!(able & proto_wire))
        return 0;
    peer->direct = uccs_must_have(calloc(1, sizeof *peer->direct), "a connection to", peer->pe);
    peer->direct->orders = able & TRANSPORT_ORDERS;
    peer->direct->counts = able & TRANSPORT_COUNTS;
    peer->direct->keeps_behind = able & TRANSPORT_BEHIND;
    peer->direct->short_puts = able & proto_wire & ~(unsigned)TRANSPORT_CHEAPER;
    return peer->direct;
}

/* Returns the bytes from an offset to the end of its piece of memory, but not more than `bytes`. */
static size_t within_piece(uint64_t offset, size_t bytes)
{
    const uint64_t room = PROTO_PIECE - offset % PROTO_PIECE;
    return bytes < room ? bytes : (size_t)room;
}

static uint64_t counter_of(const struct proto_send *send)
{
    return send->way == PROTO_DIRECT_COUNT ? send->header.put.counter : 0;
}

/* Asks for all missing keys at once. */
static bool has_keys(const struct proto_send *send, size_t bytes)
{
    bool all = true;
    uint64_t offset = send->header.at.offset;
    for (size_t part; bytes; bytes -= part, offset += part) {
        all &= proto_key_of(send->peer, &send->header, offset, counter_of(send)) != 0;
        part = within_piece(offset, bytes);
    }
    return all;
}

/* Returns true when the order of fences lets the transport carry a put now. Only a message can wait, at the target, for
 * messages that may not have been applied. */
static bool may_put(struct proto_peer *peer)
{
    proto_take_fence(peer);
    if (peer->behind.messages > peer->answered.messages)
        return false;
    return peer->behind.puts <= peer->answered.puts || peer->direct->orders;
}

static size_t length_of(const struct proto_send *send)
{
    return send->into ? send->header.get.bytes : send->bytes;
}

static struct uccs_import *use_of(const struct proto_send *send)
{
    return proto_key_of(send->peer, &send->header, send->header.at.offset, counter_of(send))->use;
}

static bool may_get(const struct proto_send *send)
{
    return !send->ordered || proto_point_reaches(send->peer->answered, send->peer->all.issued);
}

/* The network counts a put of one piece, once the key is there. Otherwise the target counts. */
lat_cold static void choose_counting(struct proto_send *send, const struct proto_direct *direct, size_t bytes)
{
    if (direct->counts && within_piece(send->header.at.offset, bytes) == bytes && has_keys(send, bytes))
        return;
    send->way = PROTO_DIRECT_NOTIFY;
}

/* Short puts that follow each other share messages, where that costs less. One whose flush a thread waits for, as it did for the
 * one before, does not. */
static bool is_worth_it(const struct proto_send *send, const struct proto_direct *direct, size_t bytes)
{
    const struct proto_peer *peer = send->peer;
    return send->into || bytes >= TRANSPORT_BULK || direct->short_puts ||
           (peer->alone && proto_point_reaches(peer->answered, peer->all.issued));
}

bool proto_direct_can(struct proto_send *send)
{
    const size_t bytes = length_of(send);
    const struct proto_direct *direct = bytes ? direct_of(send->peer) : 0;
    if (!direct || !is_worth_it(send, direct, bytes))
        return false;
    if (send->way == PROTO_DIRECT_COUNT)
        choose_counting(send, direct, bytes);
    if (send->way == PROTO_DIRECT_NOTIFY && bytes < (direct->keeps_behind ? TRANSPORT_BULK : PROTO_TELLS_FROM))
        send->way = PROTO_BY_MESSAGE;
    if (!send->way || !has_keys(send, bytes))
        return false;
    if (!(send->into ? may_get(send) : may_put(send->peer)))
        return false;
    struct uccs_import *use = use_of(send);
    return !use || uccs_import_claim(use);
}

/* --- Starting and ending them */

static void end_get(const struct transfer *transfer)
{
    if (transfer->use)
        uccs_import_unclaim(transfer->use);
    transfer->ask->failed = transfer->failed;
    proto_pending_settle(transfer->ask);
}

static void end_put(const struct transfer *transfer)
{
    if (transfer->use)
        proto_claim_until(transfer->peer, transfer->use, transfer->number);
    if (transfer->failed)
        transfer->peer->direct->failed = true;
    if (transfer->failed && transfer->log_peer)
        transfer->log_peer->refused = true;
    proto_send_free(transfer->send);
}

/* An old value tells that the operation is done. When it was the last put or atomic that was not known to be in place, no flush need
 * ask for it. */
static void end_atomic(const struct transfer *transfer)
{
    struct proto_peer *peer = transfer->peer;
    if (transfer->failed)
        uccs_fail("an atomic of the network on memory of PE %d has failed", peer->pe);
    if (transfer->ask && peer->answered.puts + 1 == transfer->number)
        peer->answered.puts = transfer->number;
}

static void end_part(struct transfer *transfer, bool failed)
{
    transfer->failed |= failed;
    if (--transfer->parts)
        return;
    proto_count_sending(transfer->peer->worker, -1);
    if (transfer->word.size)
        end_atomic(transfer);
    if (transfer->ask)
        end_get(transfer);
    else
        end_put(transfer);
    free(transfer);
}

/* The transport raises this event. */
static void part_ended(struct proto_sent_token *token, bool failed)
{
    end_part((struct transfer *)token, failed);
}

static enum transport_status start_atomic(struct transfer *transfer, const struct proto_key *key, uint64_t there,
                                          void *into)
{
    void *old = transfer->word.what <= TRANSPORT_CSWAP ? &transfer->old : 0;
    return proto_transport->atomic(transfer->peer->to, key->key, there, &transfer->word, into ? into : old, transfer);
}

static enum transport_status start_part(struct transfer *transfer, const struct proto_key *key, uint64_t offset,
                                        const struct proto_send *send, size_t done, size_t bytes)
{
    const uint64_t there = key->start + offset % PROTO_PIECE;
    void *to = transfer->peer->to;
    if (transfer->word.size)
        return start_atomic(transfer, key, there, send->into);
    if (transfer->ask)
        return proto_transport->get(to, key->key, there, (char *)send->into + done, bytes, transfer);
    return proto_transport->put(to, key->key, there, (const char *)send->data + done, bytes, transfer);
}

/* The first part is this function's, so that the transfer does not end before all parts have begun. */
static void start_transfer(const struct transfer *what, const struct proto_send *send)
{
    struct proto_peer *peer = send->peer;
    struct transfer *transfer = uccs_must_have(malloc(sizeof *transfer), "an operation on", peer->pe);
    *transfer = *what;
    transfer->token.done = part_ended;
    transfer->peer = peer;
    transfer->use = use_of(send);
    transfer->number = peer->all.issued.puts;
    transfer->parts = 1;
    proto_count_sending(peer->worker, 1);
    const size_t bytes = length_of(send);
    for (size_t part, done = 0; done < bytes; done += part) {
        const uint64_t offset = send->header.at.offset + done;
        const struct proto_key *key = proto_key_of(peer, &send->header, offset, counter_of(send));
        part = within_piece(offset, bytes - done);
        transfer->parts++;
        enum transport_status status = start_part(transfer, key, offset, send, done, part);
        if (status != TRANSPORT_PENDING)
            end_part(transfer, status == TRANSPORT_FAILED);
    }
    if (transfer->parts > 1 && peer->worker != proto_service_worker())
        proto_thread_remind(peer->worker);
    end_part(transfer, false);
}

static void keep_order(const struct proto_peer *peer)
{
    struct proto_worker *worker = peer->worker;
    if (peer->behind.puts > peer->answered.puts && worker->ordered != worker->epoch) {
        proto_transport->order(worker->at);
        worker->ordered = worker->epoch;
    }
}

void proto_direct_put(struct proto_send *send)
{
    keep_order(send->peer);
    struct proto_log_peer *log_peer = send->log ? proto_log_peer_find(send->log, send->peer->pe) : 0;
    start_transfer(&(struct transfer){.send = send, .log_peer = log_peer}, send);
}

void proto_direct_get(struct proto_send *send, struct proto_pending *ask)
{
    start_transfer(&(struct transfer){.ask = ask}, send);
    proto_send_free(send);
}

void proto_direct_free(struct proto_peer *peer)
{
    if (peer->direct)
        proto_key_free(peer);
    free(peer->direct);
    peer->direct = 0;
}

/* --- Atomics of the adapter; any thread, without a lock */

bool proto_adapter_share(size_t offset, size_t bytes)
{
    char *start = (char *)uccs_core.heap_start;
    const size_t whole = uccs_memory_heap_whole();
    bool all = true;
    for (size_t piece = offset - offset % PROTO_PIECE; piece < offset + bytes; piece += PROTO_PIECE)
        all &= proto_key_share(start + piece, whole - piece < PROTO_PIECE ? whole - piece : PROTO_PIECE);
    return all;
}

/* --- What the transport has */

static bool has_all(void *to)
{
    const unsigned able = proto_transport->able(to);
    return able & proto_wire && (proto_wire & TRANSPORT_ONESIDED || able & TRANSPORT_ATOMICS_ALONE) &&
           proto_transport->atomics(to, 4) == TRANSPORT_ATOMICS_ALL &&
           proto_transport->atomics(to, 8) == TRANSPORT_ATOMICS_ALL;
}

/* The connection of this PE to itself stands for all. One that proves different ends the job (turn_of). */
bool proto_adapter(void)
{
    struct proto_worker *worker = proto_service_worker();
    if (!uccs_core.adapter_bytes || !proto_has_direct)
        return false;
    struct uccs_wait wait uccs_scoped = {0};
    pthread_mutex_lock(&worker->lock);
    struct proto_peer *self = proto_peer_of(worker, uccs_core.me);
    proto_connect(self);
    while (!(proto_transport->able(self->to) & TRANSPORT_KNOWN)) {
        uccs_eventcount_unlock(&worker->events, &worker->lock);
        proto_pause(worker, &wait);
        pthread_mutex_lock(&worker->lock);
    }
    const bool all = has_all(self->to);
    pthread_mutex_unlock(&worker->lock);
    return all;
}

/* --- Waiting for its turn */

enum turn { NOW, WHEN_KNOWN, WHEN_FLUSHED };

static enum turn turn_of(const struct proto_send *send)
{
    struct proto_peer *peer = send->peer;
    proto_connect(peer);
    if (!direct_of(peer)) {
        if (proto_transport->able(peer->to) & TRANSPORT_KNOWN)
            uccs_fail("the network's atomics do not reach PE %d", peer->pe);
        return WHEN_KNOWN;
    }
    const struct proto_key *key = proto_key_find(peer, &send->header, send->header.at.offset, 0);
    if (key && key->state == PROTO_KEY_NONE)
        uccs_fail("the network cannot reach memory of PE %d for an atomic", peer->pe);
    if (!key || key->state != PROTO_KEY_READY)
        return WHEN_KNOWN;
    return may_put(peer) ? NOW : WHEN_FLUSHED;
}

/* Takes and releases the worker's lock meanwhile. `all` has an owner and no parent, so nobody frees it; a flush counts on it until
 * it is answered. */
static void await_turn(const struct proto_send *send)
{
    struct proto_worker *worker = send->worker;
    struct uccs_request all = {.pending = 1};
    struct uccs_wait wait uccs_scoped = {0};
    for (enum turn turn; (turn = turn_of(send)) != NOW || atomic_load_acquire(&all.pending) != 1;) {
        if (turn == WHEN_FLUSHED && atomic_load_acquire(&all.pending) == 1) /* acqrel: uccs_request_finish */
            proto_flush_peer(&send->peer->all, &all, true);
        uccs_eventcount_unlock(&worker->events, &worker->lock);
        proto_pause(worker, &wait);
        pthread_mutex_lock(&worker->lock);
    }
}

/* --- Starting it */

/* A fetch adds nothing, and a set swaps. */
static struct transport_word word_of(const struct uccs_atomic_op *op)
{
    static const uint8_t names[] =
        {[UCCS_ATOMIC_FETCH] = TRANSPORT_ADD,   [UCCS_ATOMIC_SET] = TRANSPORT_SWAP, [UCCS_ATOMIC_SWAP] = TRANSPORT_SWAP,
         [UCCS_ATOMIC_CSWAP] = TRANSPORT_CSWAP, [UCCS_ATOMIC_ADD] = TRANSPORT_ADD,  [UCCS_ATOMIC_AND] = TRANSPORT_AND,
         [UCCS_ATOMIC_OR] = TRANSPORT_OR,       [UCCS_ATOMIC_XOR] = TRANSPORT_XOR};
    struct transport_word word = {.what = (enum transport_atomic)names[op->what], .size = op->size};
    uccs_store_value(&word.operand, op->size, op->what == UCCS_ATOMIC_FETCH ? 0 : op->operand);
    uccs_store_value(&word.compare, op->size, op->compare);
    return word;
}

/* The fence keeps this process's stores before it, to its own memory and to peers of the node, ahead of the adapter. */
void proto_atomic(struct proto_send *send, const struct uccs_atomic_op *op, struct proto_pending *ask)
{
    struct proto_worker *worker = send->worker;
    struct proto_peer *peer = send->peer;
    atomic_fence_seqcst();
    if (send->ordered)
        worker->epoch++;
    await_turn(send);
    peer->all.issued.puts++;
    proto_touch(peer);
    if (ask) {
        ask->worker = worker;
        ask->pe = peer->pe;
    }
    if (ask && !ask->flag)
        proto_pending_list(send, ask);
    if (!ask && send->log)
        proto_log_issued(send);
    if (!ask && send->request)
        (void)proto_hang(peer, send->request);
    keep_order(peer);
    start_transfer(&(struct transfer){.send = ask ? 0 : send, .ask = ask, .word = word_of(op)}, send);
    if (ask)
        proto_send_free(send);
    pthread_mutex_unlock(&worker->lock);
}
