/* Issues messages that have begun (pool.c): counts and orders a message that is an operation, and chooses between a message and what
 * the network does by itself. Nothing here lacks memory. Under the worker's lock, which proto_issue and proto_issue_ask release. */
#include "uccs/proto/inner.h"

#include "base/clock.h"
#include "uccs/core/doorbell.h"

/* Counts a message to the peer and sets in its header which messages it must not overtake. */
static void count_message(struct proto_peer *peer, struct wire_header *header)
{
    proto_take_fence(peer);
    header->after = peer->fenced;
    peer->all.issued.messages++;
    proto_touch(peer);
}

/* Sets what the message must not overtake: messages at the target, puts of the transport here. */
static void order_message(struct proto_send *send)
{
    struct proto_peer *peer = send->peer;
    if (send->counts) {
        count_message(peer, &send->header);
        send->puts = peer->behind.puts;
    } else if (send->ordered) {
        send->header.after = peer->all.issued.messages;
        send->puts = peer->all.issued.puts;
    }
    if (send->log && send->counts)
        proto_log_issued(send);
    if (lat_unlikely(send->request != 0))
        send->header.number = proto_hang(peer, send->request);
    else if (send->log)
        send->header.number = send->log->number;
}

static void send_message(struct proto_send *send)
{
    const struct proto_peer *peer = send->peer;
    if (lat_unlikely(send->puts > peer->answered.puts && !peer->direct->keeps_behind))
        proto_hold_back(send);
    else if (send->later)
        proto_send_later(send);
    else
        proto_send_now(send);
}

#define TELL_NS 50000   /* a message costs a tenth of it over TCP */
#define RING_NS 1000000 /* a ring costs some hundredths of it */
#define STREAM 16

/* Signals, counts and atomics without a result tell the target something, so they leave at once, and take along what waits to leave. When
 * more than STREAM of them have followed each other, each within TELL_NS, one leaves in that time and the others join it: the program
 * sends more of them than messages can carry. A poll between two of them counts back, so answers are no stream. If the program computes
 * then, the progress thread sends the last ones; a stream that begins rings, so that the thread looks soon. */
static bool tells_often(struct proto_peer *peer)
{
    const uint64_t now = clock_nanoseconds();
    const uint32_t polls = peer->worker->polls;
    const bool threaded = atomic_load_relaxed(&uccs_progress_thread_on);
    if (now - peer->told >= TELL_NS)
        peer->tells = 0;
    else if (polls != peer->polls)
        peer->tells -= peer->tells > 0;
    else if (peer->tells < STREAM && ++peer->tells == STREAM && threaded && now - peer->tell_rung >= RING_NS) {
        peer->tell_rung = now;
        uccs_doorbell_ring_mine();
    }
    peer->told = now;
    peer->polls = polls;
    if (peer->tells == STREAM && now - peer->tell_left < TELL_NS && threaded)
        return true;
    peer->tell_left = now;
    return false;
}

static bool may_join(const struct proto_send *send)
{
    return send->joins || (send->tells && tells_often(send->peer));
}

/* A message that finds nothing of its peer under way leaves at once; where the one before was alone when a thread waited for its flush,
 * this one brings its flush along, so that who waits next finds that under way: one message in place of two. */
static void issue_message(struct proto_send *send)
{
    struct proto_peer *peer = send->peer;
    const bool first = proto_point_reaches(peer->answered, peer->all.issued);
    const bool leaves = !send->later || !proto_coalesce_fits(send->bytes);
    const bool flushes = first && peer->alone && send->counts && leaves && proto_coalesce_fits_flush(send->bytes);
    send->later |= may_join(send) && !first;
    order_message(send);
    if (lat_unlikely(flushes)) {
        proto_send_add(send);
        proto_flush_ahead(peer);
    } else {
        send_message(send);
    }
}

/* The part of a put that tells the target, as an operation of its own. */
static struct proto_send *word_of(const struct proto_send *put)
{
    struct proto_send *word = proto_send_new(put->worker, put->peer, WIRE_PUT);
    word->header = put->header;
    if (put->log)
        word->header.number = put->log->number;
    count_message(put->peer, &word->header);
    return word;
}

/* The flush that a request or a log waits for covers the word, too, so it is counted first. */
lat_cold static void put_direct(struct proto_send *send)
{
    struct proto_peer *peer = send->peer;
    struct proto_send *word = send->way == PROTO_DIRECT_NOTIFY ? word_of(send) : 0;
    const uint64_t puts = ++peer->all.issued.puts;
    proto_touch(peer);
    if (send->log)
        proto_log_issued(send);
    const uint16_t number = send->request ? proto_hang(peer, send->request) : 0;
    proto_direct_put(send);
    if (!word)
        return;
    word->puts = puts;
    if (number)
        word->header.number = number;
    send_message(word);
}

void proto_issue(struct proto_send *send)
{
    struct proto_worker *worker = send->worker;
    if (lat_unlikely(send->way && proto_direct_can(send)))
        put_direct(send);
    else
        issue_message(send);
    pthread_mutex_unlock(&worker->lock);
}

void proto_issue_ask(struct proto_send *send, struct proto_pending *ask)
{
    struct proto_worker *worker = send->worker;
    const bool direct = lat_unlikely(send->way && proto_direct_can(send));
    send->later &= !ask->flag && proto_coalesce_fits(ask->bytes) && worker->under_way;
    ask->worker = worker;
    ask->pe = send->peer->pe;
    ask->reads = direct || !proto_coalesce_fits(ask->bytes);
    if (!ask->flag)
        proto_pending_list(send, ask);
    if (direct) {
        proto_direct_get(send, ask);
    } else {
        order_message(send);
        send->header.handle = proto_handle_of(worker, ask, ask->pe, (enum proto_wire_kind)send->header.kind);
        send_message(send);
    }
    pthread_mutex_unlock(&worker->lock);
}
