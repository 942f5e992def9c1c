/* Issues messages on a worker; counts and orders a message that is an operation. */
#include "uccs/proto/inner.h"

#define SENDING_MOST 512                /* messages that the transport may hold before issuing waits */
#define ASKING_MOST ((uint32_t)4 << 20) /* bytes that the targets of a worker may hold in answers before asking waits */

_Thread_local bool proto_never_waits;

bool proto_busy(const struct proto_worker *worker)
{
    return lat_unlikely(atomic_load_relaxed(&worker->sending) > SENDING_MOST);
}

void proto_make_room(struct proto_worker *worker)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (proto_busy(worker) && !proto_never_waits)
        proto_pause(worker, &wait);
}

bool proto_pending_busy(const struct proto_worker *worker)
{
    return lat_unlikely(atomic_load_relaxed(&worker->asking) > ASKING_MOST);
}

/* Waits while the targets hold too many bytes of answers; a target holds an answer until it has left. */
static void make_room_to_ask(struct proto_worker *worker)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (proto_pending_busy(worker) && !proto_never_waits)
        proto_pause(worker, &wait);
}

void proto_await(struct proto_worker *worker, const uint32_t *flag)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(proto_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &worker->events, &worker->lock);
    while (!atomic_load_acquire(flag)) /* release: proto_send_free, proto_pending_settle */
        proto_follow(&me, worker, &wait);
    uccs_follower_end(&me);
}

void proto_issue_touch(struct proto_peer *peer)
{
    struct proto_worker *worker = peer->worker;
    if (!peer->touched) {
        peer->touched = true;
        peer->next_touched = worker->touched;
        worker->touched = peer;
    }
    proto_touch(worker);
}

/* Counts a message to the peer and sets in its header which messages it must not overtake. */
static void count_message(struct proto_peer *peer, struct wire_header *header)
{
    proto_take_fence(peer);
    header->after = peer->fenced;
    peer->issued.messages++;
    proto_issue_touch(peer);
}

/* Returns the number of puts of the transport that a message must not overtake. */
static uint64_t puts_before(const struct proto_peer *peer, const struct proto_message *message)
{
    if (message->counts)
        return peer->behind.puts;
    return message->ordered ? peer->issued.puts : 0;
}

static void fill_header(struct proto_send *send, const struct wire_header *header)
{
    const uint32_t from = send->header.from, number = send->header.worker;
    send->header = *header;
    send->header.from = from;
    send->header.worker = number;
}

/* Under the worker's lock. */
static struct proto_send *prepare(struct proto_peer *peer, const struct proto_message *message)
{
    struct proto_send *send = proto_send_new(peer->worker);
    fill_header(send, &message->header);
    send->flag = message->flag;
    send->buffer = message->buffer;
    send->left = message->left;
    send->cookie = message->cookie;
    send->local = message->local;
    if (message->counts)
        count_message(peer, &send->header);
    else if (message->ordered)
        send->header.after = peer->issued.messages;
    if (message->log && message->counts)
        proto_log_issued(message->log, peer, send);
    if (message->request)
        send->header.number = proto_hang(peer, message->request);
    else if (message->log)
        send->header.number = message->log->number;
    return send;
}

static void send_message(struct proto_peer *peer, const struct proto_message *message)
{
    const bool later = message->later || (message->joins && peer->issued.messages != peer->answered.messages);
    struct proto_send *send = prepare(peer, message);
    proto_send_behind(peer, send, message->data, message->bytes, later, puts_before(peer, message));
}

struct proto_send *proto_issue_source(struct proto_peer *peer, const struct proto_message *message)
{
    struct proto_send *send = proto_send_new(peer->worker);
    send->flag = message->flag;
    send->buffer = message->buffer;
    send->left = message->left;
    send->cookie = message->cookie;
    send->local = message->local;
    return send;
}

/* The part of a put that tells the target, as an operation of its own. */
static struct proto_send *word_of(struct proto_peer *peer, const struct proto_message *message)
{
    struct proto_send *word = proto_send_new(peer->worker);
    fill_header(word, &message->header);
    if (message->log)
        word->header.number = message->log->number;
    count_message(peer, &word->header);
    return word;
}

/* The flush that a request or a log waits for covers the word, too, so it is counted first. */
lat_cold static void put_direct(struct proto_peer *peer, const struct proto_message *message)
{
    struct proto_send *source = proto_issue_source(peer, message);
    struct proto_send *word = message->way == PROTO_DIRECT_NOTIFY ? word_of(peer, message) : 0;
    const uint64_t puts = ++peer->issued.puts;
    proto_issue_touch(peer);
    if (message->log)
        proto_log_issued(message->log, peer, source);
    const uint16_t number = message->request ? proto_hang(peer, message->request) : 0;
    if (word && number)
        word->header.number = number;
    proto_direct_put(peer, message, source);
    if (word)
        proto_send_behind(peer, word, 0, 0, false, puts);
}

/* Takes the memory that the message may need, so that nothing behind this lacks any. Returns false when there is none. A connection
 * that is not made yet, and an operation that the network does by itself, need more. */
static bool reserve(struct proto_peer *peer, const struct proto_message *message)
{
    struct proto_worker *worker = peer->worker;
    return proto_send_reserve(worker) && (!(message->later || message->joins) || proto_coalesce_reserve(worker)) &&
           (!message->log || proto_log_reserve(message->log, peer)) && (!message->request || proto_hang_reserve(peer));
}

static void start(struct proto_peer *peer, const struct proto_message *message)
{
    if (lat_unlikely(message->way && proto_direct_can(peer, message)))
        put_direct(peer, message);
    else
        send_message(peer, message);
}

bool proto_try_issue(struct proto_worker *worker, int pe, const struct proto_message *message)
{
    pthread_mutex_lock(&worker->lock);
    struct proto_peer *peer = proto_peer_try(worker, pe);
    const bool good = peer && reserve(peer, message);
    if (lat_likely(good))
        start(peer, message);
    pthread_mutex_unlock(&worker->lock);
    return good;
}

void proto_issue(struct proto_worker *worker, int pe, const struct proto_message *message)
{
    if (lat_unlikely(!proto_try_issue(worker, pe, message)))
        uccs_fail("no memory for a message to PE %d", pe);
}

void proto_issue_list(struct proto_peer *peer, struct proto_issue_log *log, struct proto_pending *ask)
{
    proto_pending_list(ask);
    if (log)
        proto_log_asks(log, peer, ask);
    proto_touch(peer->worker);
}

static void send_ask(struct proto_peer *peer, const struct proto_message *message, struct proto_pending *ask,
                     bool later)
{
    struct proto_send *send = prepare(peer, message);
    send->header.handle = proto_handle_of(peer->worker, ask, peer->pe, (enum proto_wire_kind)send->header.kind);
    proto_send_behind(peer, send, message->data, message->bytes, later, puts_before(peer, message));
}

static void start_ask(struct proto_peer *peer, const struct proto_message *message, struct proto_pending *ask)
{
    struct proto_worker *worker = peer->worker;
    const bool direct = lat_unlikely(message->way && proto_direct_can(peer, message));
    const bool later = message->later && !ask->flag && proto_coalesce_fits(ask->bytes) && worker->first;
    ask->worker = worker;
    ask->pe = peer->pe;
    ask->reads = direct || !proto_coalesce_fits(ask->bytes);
    if (!ask->flag)
        proto_issue_list(peer, message->log, ask);
    if (direct)
        proto_direct_get(peer, message, ask);
    else
        send_ask(peer, message, ask, later);
}

bool proto_pending_try(struct proto_worker *worker, int pe, const struct proto_message *message,
                       struct proto_pending *ask)
{
    proto_make_room(worker);
    if (!ask->flag)
        make_room_to_ask(worker);
    pthread_mutex_lock(&worker->lock);
    struct proto_peer *peer = proto_peer_try(worker, pe);
    const bool good = peer && reserve(peer, message) && proto_handle_reserve(&worker->handles);
    if (lat_likely(good))
        start_ask(peer, message, ask);
    pthread_mutex_unlock(&worker->lock);
    return good;
}

void proto_pending_send(struct proto_worker *worker, int pe, const struct proto_message *message,
                        struct proto_pending *ask)
{
    if (lat_unlikely(!proto_pending_try(worker, pe, message, ask)))
        uccs_fail("no memory for a message to PE %d", pe);
}
