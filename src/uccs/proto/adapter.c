/* Atomics on memory whose atomics the network's adapter does: the adapter's part of the heap (core/memory.h). See initiator.h.
 *
 * Invariant: nothing else changes a word there that a program accesses by atomics. So PEs of the target's node, and the
 * target itself, go through the adapter, too, and the operation is done when the call returns, as all operations on the node are.
 * A processor's loads see what the adapter has stored. */
#include "uccs/proto/inner.h"
#include "uccs/proto/target.h"

#include "uccs/core/memory.h"

bool proto_adapter(void)
{
    return uccs_core.adapter_bytes && proto_adapter_works();
}

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

/* The connection of this PE to itself stands for all. One that proves different ends the job (proto_direct_of). */
bool proto_adapter_works(void)
{
    struct proto_worker *worker = proto_service_worker();
    if (!proto_has_direct)
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
    if (!proto_direct_of(peer))
        return WHEN_KNOWN;
    const struct proto_key *key = proto_key_find(peer, &send->header, send->header.at.offset);
    if (key && key->state == PROTO_KEY_NONE)
        uccs_fail("the network cannot reach memory of PE %d for an atomic", peer->pe);
    if (!key || key->state != PROTO_KEY_READY)
        return WHEN_KNOWN;
    return proto_direct_may(peer) ? NOW : WHEN_FLUSHED;
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
            proto_flush_peer(send->peer, send->peer->issued, &all, 0, true);
        uccs_eventcount_unlock(&worker->events, &worker->lock);
        proto_pause(worker, &wait);
        pthread_mutex_lock(&worker->lock);
    }
}

/* --- Starting it */

/* The fence keeps this process's stores before it, to its own memory and to peers of the node, ahead of the adapter. */
void proto_atomic(struct proto_send *send, const struct transport_word *word, struct proto_pending *ask)
{
    struct proto_worker *worker = send->worker;
    struct proto_peer *peer = send->peer;
    atomic_fence_seqcst();
    if (send->ordered)
        worker->epoch++;
    await_turn(send);
    peer->issued.puts++;
    proto_issue_touch(peer);
    if (ask) {
        ask->worker = worker;
        ask->pe = peer->pe;
    }
    if (ask && !ask->flag)
        proto_issue_list(send, ask);
    if (!ask && send->log)
        proto_log_issued(send);
    if (!ask && send->request)
        (void)proto_hang(peer, send->request);
    proto_direct_atomic(send, word, ask);
    pthread_mutex_unlock(&worker->lock);
}
