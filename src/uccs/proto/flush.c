/* A flush asks a peer whether it has applied the operations issued to it; requests hang on the answer.
 *
 * Invariants, under the worker's lock: a flush that is sent covers all operations issued before. proto_nudge starts no
 * flush for hanging requests while another flush of the peer flies; `next` gathers requests until then.
 *
 * Threads that wait for flushes of one peer share them: while one is under way and some thread waits, the operations and requests
 * of further threads gather here, and leave as one message when it is answered. So a thread waits for two answers at most, and a message
 * serves all. Whoever waits moves the worker on, so the answer is seen. */
#include "uccs/proto/inner.h"

#include <stdlib.h>

/* Takes an idle flush of the worker, with its room for requests, so that the worker's lock is seldom held by an allocation. Returns null
 * without memory. */
static struct proto_peer_flush *try_flush(struct proto_peer *peer)
{
    struct proto_worker *worker = peer->worker;
    struct proto_peer_flush *flush = worker->idle_flush;
    if (lat_likely(flush != 0))
        worker->idle_flush = flush->next;
    else if (!(flush = calloc(1, sizeof *flush)))
        return 0;
    *flush = (struct proto_peer_flush){.peer = peer, .requests = flush->requests, .room = flush->room};
    return flush;
}

static struct proto_peer_flush *new_flush(struct proto_peer *peer)
{
    return uccs_must_have(try_flush(peer), "a flush of", peer->pe);
}

static bool has_room(struct proto_peer_flush *flush)
{
    if (lat_likely(flush->count < flush->room))
        return true;
    const uint32_t room = flush->room ? 2 * flush->room : 4;
    struct proto_hanging *requests = realloc(flush->requests, room * sizeof *requests);
    if (!requests)
        return false;
    flush->requests = requests;
    flush->room = room;
    return true;
}

bool proto_hang_reserve(struct proto_peer *peer)
{
    return (peer->next || (peer->next = try_flush(peer))) && has_room(peer->next);
}

#define KEPT_ROOM 1024 /* requests for which an idle flush keeps room at most */

static void put_idle(struct proto_peer_flush *flush)
{
    struct proto_worker *worker = flush->peer->worker;
    if (flush->room > KEPT_ROOM) {
        free(flush->requests);
        flush->requests = 0;
        flush->room = 0;
    }
    flush->next = worker->idle_flush;
    worker->idle_flush = flush;
}

/* Takes one count per request and flush. */
static struct proto_hanging *hang_on(struct proto_peer_flush *flush, struct uccs_request *request,
                                     struct proto_log_peer *log_peer)
{
    if (flush->count && flush->requests[flush->count - 1].request == request)
        return &flush->requests[flush->count - 1];
    if (!has_room(flush))
        uccs_fail("no memory for a request on PE %d", flush->peer->pe);
    struct proto_hanging *hanging = &flush->requests[flush->count++];
    *hanging = (struct proto_hanging){.request = request, .log_peer = log_peer};
    uccs_request_begin(request);
    return hanging;
}

/* Returns whether a put to the peer has failed, and forgets it. */
static bool take_failed(struct proto_peer *peer)
{
    bool failed = peer->direct && peer->direct->failed;
    if (failed)
        peer->direct->failed = false;
    return failed;
}

/* It is not known who has issued a put that has failed. */
static bool has_failed(const struct proto_peer_flush *flush, const struct proto_hanging *hanging)
{
    const bool refused = hanging->log_peer ? proto_log_peer_take_nacked(hanging->log_peer) : hanging->refused;
    return refused | flush->lost;
}

/* A later look starts the peer's next flush. */
static void put_on_hung(struct proto_peer *peer)
{
    struct proto_worker *worker = peer->worker;
    if (peer->hung)
        return;
    peer->hung = true;
    peer->next_hung = worker->hung;
    worker->hung = peer;
}

static void start_flush(struct proto_peer *peer);

/* Ends one part of a flush. */
static void end_part(struct proto_peer_flush *flush)
{
    struct proto_peer *peer = flush->peer;
    if (--flush->parts)
        return;
    peer->worker->flushes--;
    flush->lost |= take_failed(peer);
    if (peer->flying == flush)
        peer->flying = 0;
    for (uint32_t i = 0; i < flush->count; i++) {
        const struct proto_hanging *hanging = &flush->requests[i];
        uccs_request_finish(hanging->request, has_failed(flush, hanging));
    }
    put_idle(flush);
    uccs_eventcount_tell(&peer->worker->events);
    if (!peer->gathers || peer->flying)
        return;
    if (uccs_waiters_exceed_cores()) /* those whose requests have just ended come back with the next ones */
        put_on_hung(peer);
    else
        start_flush(peer);
}

static void end_landing(struct proto_peer_flush *flush, bool failed)
{
    flush->lost |= failed;
    end_part(flush);
}

/* The target counts the messages that it has applied and does not know which they are, so later ones must not overtake
 * those that the flush covers. */
static void ask_target(struct proto_peer_flush *flush)
{
    struct proto_peer *peer = flush->peer;
    struct proto_send *send = proto_send_new(peer->worker, peer, WIRE_FLUSH);
    peer->fenced = peer->all.issued.messages;
    flush->parts++;
    send->header.after = peer->all.issued.messages;
    send->header.flush.handle = proto_handle_of(peer->worker, flush, peer->pe, WIRE_FLUSH);
    proto_send_now(send);
}

/* Returns true when the point is one operation further than what is answered. */
static bool is_one_more(const struct proto_peer *peer, struct proto_point at)
{
    return at.messages + at.puts == peer->answered.messages + peer->answered.puts + 1;
}

/* Starts the peer's next flush, with the requests that hang on it: of the messages that the target has not answered, and of
 * the transport's puts that may still be under way. */
static void start_flush(struct proto_peer *peer)
{
    struct proto_peer_flush *flush = peer->next ? peer->next : new_flush(peer);
    peer->next = 0;
    peer->gathers = false;
    proto_coalesce_keep(&peer->coalescer, peer->worker, false);
    peer->alone = is_one_more(peer, peer->all.issued);
    peer->worker->flushes++;
    flush->covers = peer->all.issued;
    flush->parts = 1; /* this function's */
    peer->flying = flush;
    if (peer->all.issued.messages > peer->answered.messages)
        ask_target(flush);
    if (lat_unlikely(peer->all.issued.puts > peer->answered.puts)) {
        flush->parts++;
        proto_land(peer, end_landing, flush);
    }
    end_part(flush);
}

uint16_t proto_hang(struct proto_peer *peer, struct uccs_request *request)
{
    struct proto_worker *worker = peer->worker;
    if (!peer->next)
        peer->next = new_flush(peer);
    struct proto_hanging *hanging = hang_on(peer->next, request, 0);
    if (!hanging->number)
        hanging->number = (uint16_t)(PROTO_REQUEST | worker->requested++);
    put_on_hung(peer);
    return hanging->number;
}

/* Starts the flushes of hung peers. A peer whose flush is still under way stays on the list. */
void proto_nudge(struct proto_worker *worker)
{
    struct proto_peer **at = &worker->hung;
    while (*at) {
        struct proto_peer *peer = *at;
        if (peer->flying) {
            at = &peer->next_hung;
            continue;
        }
        *at = peer->next_hung;
        peer->hung = false;
        if (peer->next)
            start_flush(peer);
    }
    proto_untouch(worker);
}

void proto_flush_peer(struct proto_log_peer *log_peer, struct uccs_request *all, bool waits)
{
    struct proto_peer *peer = log_peer->peer;
    if (peer->flying && proto_point_reaches(peer->flying->covers, log_peer->issued)) {
        peer->alone |= is_one_more(peer, peer->flying->covers);
        hang_on(peer->flying, all, log_peer);
        return;
    }
    if (!peer->next)
        peer->next = new_flush(peer);
    hang_on(peer->next, all, log_peer);
    if (!waits || !atomic_load_relaxed(&uccs_waiting) || (!peer->flying && !uccs_waiters_exceed_cores())) {
        start_flush(peer);
        return;
    }
    peer->gathers = true;
    proto_coalesce_keep(&peer->coalescer, peer->worker,
                        peer->worker != proto_service_worker()); /* there answers leave by the same coalescer */
    if (!peer->flying)
        put_on_hung(peer);
}

/* A flush that nobody has waited for yet is no reason for another one ahead. */
void proto_flush_ahead(struct proto_peer *peer)
{
    if (!peer->flying)
        start_flush(peer);
    peer->alone = peer->flying && peer->flying->count;
}

/* Tells the requests that hang on the flush which numbers were refused. */
static void note_refused(struct proto_peer_flush *flush, const proto_nack_number *numbers, size_t count)
{
    uint64_t refused[(UINT16_MAX + 1) / 64] = {0};
    for (size_t i = 0; i < count; i++)
        refused[numbers[i] / 64] |= UINT64_C(1) << numbers[i] % 64;
    for (uint32_t i = 0; i < flush->count; i++) {
        struct proto_hanging *hanging = &flush->requests[i];
        hanging->refused = refused[hanging->number / 64] >> hanging->number % 64 & 1;
    }
}

static bool land_flushed(struct proto_arrival *arrival, const void *numbers)
{
    struct proto_peer_flush *flush = proto_pending_take(arrival);
    const size_t count = arrival->bytes / sizeof(uint16_t);
    if (lat_unlikely(count)) {
        proto_log_nacked(arrival->worker, (int)arrival->header.from, numbers, count);
        note_refused(flush, numbers, count);
    }
    struct proto_peer *peer = flush->peer;
    if (flush->covers.messages > peer->answered.messages)
        peer->answered.messages = flush->covers.messages;
    end_part(flush);
    return true;
}

/* The target has applied as many operations as this process has issued, so it has applied each of them. */
void proto_applied_note(const struct proto_pending *ask, uint64_t applied)
{
    struct proto_peer *peer = ask->worker->log.peers[ask->pe]->peer;
    if (applied == peer->all.issued.messages && applied > peer->answered.messages)
        peer->answered.messages = applied;
}

uint64_t proto_applied_count(const struct proto_arrival *arrival)
{
    return arrival->origin->refused ? 0 : arrival->origin->applied + 1;
}

/* The target's side. It handles a flush when all operations issued before have been applied. */
static void answer_flush(struct proto_arrival *arrival)
{
    struct proto_origin *origin = arrival->origin;
    struct proto_send *answer = proto_answer_new(WIRE_FLUSHED);
    answer->header.flushed.handle = arrival->header.flush.handle;
    answer->data = answer->buffer = proto_nacks_take(origin, &answer->bytes);
    proto_answer(origin, answer);
}

const struct proto_handler proto_on_flush = {.landed = answer_flush};
const struct proto_handler proto_on_flushed = {.loose = true, .land = land_flushed};

void proto_untouch(struct proto_worker *worker)
{
    uint32_t some = worker->log.active || worker->hung || worker->flushes;
    atomic_store_relaxed(&worker->some, some);
    if (worker == proto_service_worker())
        atomic_store_relaxed(&proto_touched, some);
}
