/* A flush asks a peer whether it has applied the operations issued to it; requests hang on the answer.
 *
 * Invariants, under the lane's lock: a flush that is sent covers all operations issued before. link_nudge starts no
 * flush for hanging requests while another flush of the peer flies; `next` gathers requests until then.
 *
 * Threads that wait for flushes of one peer share them: while one is under way and some thread waits, the operations and requests
 * of further threads gather here, and leave as one message when it is answered. So a thread waits for two answers at most, and a message
 * serves all. Whoever waits moves the lane on, so the answer is seen. */
#include "uccs/link/inner.h"

#include <stdlib.h>

/* Takes an idle flush of the lane, with its room for requests, so that the lane's lock is seldom held by an allocation. Returns null
 * without memory. */
static struct link_flush *try_flush(struct link_peer *peer)
{
    struct link_lane *lane = peer->lane;
    struct link_flush *flush = lane->idle_flush;
    if (lat_likely(flush != 0))
        lane->idle_flush = flush->next;
    else if (!(flush = calloc(1, sizeof *flush)))
        return 0;
    *flush = (struct link_flush){.peer = peer, .requests = flush->requests, .room = flush->room};
    return flush;
}

static struct link_flush *new_flush(struct link_peer *peer)
{
    struct link_flush *flush = try_flush(peer);
    if (!flush)
        uccs_fail("no memory for a flush of PE %d", peer->pe);
    return flush;
}

static bool has_room(struct link_flush *flush)
{
    if (lat_likely(flush->count < flush->room))
        return true;
    const uint32_t room = flush->room ? 2 * flush->room : 4;
    struct link_hanging *requests = realloc(flush->requests, room * sizeof *requests);
    if (!requests)
        return false;
    flush->requests = requests;
    flush->room = room;
    return true;
}

bool link_hang_reserve(struct link_peer *peer)
{
    return (peer->next || (peer->next = try_flush(peer))) && has_room(peer->next);
}

#define KEPT_ROOM 1024 /* requests for which an idle flush keeps room at most */

static void drop(struct link_flush *flush)
{
    struct link_lane *lane = flush->peer->lane;
    if (flush->room > KEPT_ROOM) {
        free(flush->requests);
        flush->requests = 0;
        flush->room = 0;
    }
    flush->next = lane->idle_flush;
    lane->idle_flush = flush;
}

/* Takes one count per request and flush. */
static struct link_hanging *append(struct link_flush *flush, struct uccs_request *request, struct link_mark *mark)
{
    if (flush->count && flush->requests[flush->count - 1].request == request)
        return &flush->requests[flush->count - 1];
    if (!has_room(flush))
        uccs_fail("no memory for a request on PE %d", flush->peer->pe);
    struct link_hanging *hanging = &flush->requests[flush->count++];
    *hanging = (struct link_hanging){.request = request, .mark = mark};
    uccs_request_begin(request);
    return hanging;
}

/* Returns whether a put to the peer has failed, and forgets it. */
static bool take_failed(struct link_peer *peer)
{
    bool failed = peer->direct && peer->direct->failed;
    if (failed)
        peer->direct->failed = false;
    return failed;
}

/* It is not known who has issued a put that has failed. */
static bool has_failed(const struct link_flush *flush, const struct link_hanging *hanging)
{
    const bool refused = hanging->mark     ? link_mark_take_refused(hanging->mark)
                         : hanging->number ? hanging->refused
                                           : flush->refused;
    return refused | flush->lost;
}

/* A later look starts the peer's next flush. */
static void put_on_hung(struct link_peer *peer)
{
    struct link_lane *lane = peer->lane;
    if (peer->hung)
        return;
    peer->hung = true;
    peer->next_hung = lane->hung;
    lane->hung = peer;
}

static void start(struct link_peer *peer);

/* Ends one part of a flush. */
static void end_part(struct link_flush *flush)
{
    struct link_peer *peer = flush->peer;
    if (--flush->parts)
        return;
    flush->lost |= take_failed(peer);
    if (peer->flying == flush)
        peer->flying = 0;
    for (uint32_t i = 0; i < flush->count; i++) {
        const struct link_hanging *hanging = &flush->requests[i];
        uccs_request_finish(hanging->request, has_failed(flush, hanging));
    }
    drop(flush);
    uccs_eventcount_tell(&peer->lane->events);
    if (!peer->gathers || peer->flying)
        return;
    if (uccs_is_crowd()) /* those whose requests have just ended come back with the next ones */
        put_on_hung(peer);
    else
        start(peer);
}

static void end_landing(struct link_flush *flush, bool failed)
{
    flush->lost |= failed;
    end_part(flush);
}

/* The target counts the messages that it has applied and does not know which they are, so later ones must not overtake
 * those that the flush covers. */
static void ask_target(struct link_flush *flush)
{
    struct link_peer *peer = flush->peer;
    struct link_send *send = link_send_new(peer->lane);
    peer->fenced = peer->issued.messages;
    flush->parts++;
    send->header.kind = LINK_FLUSH;
    send->header.after = peer->issued.messages;
    send->header.flush.asker = link_token_of(peer->lane, flush, peer->pe, LINK_FLUSH);
    link_send_now(peer, send, 0, 0);
}

/* Starts the peer's next flush, with the requests that hang on it: of the messages that the target has not answered, and of
 * the transport's puts that may still be under way. */
static void start(struct link_peer *peer)
{
    struct link_flush *flush = peer->next ? peer->next : new_flush(peer);
    peer->next = 0;
    peer->gathers = false;
    link_batch_keep(&peer->box, peer->lane, false);
    flush->covers = peer->issued;
    flush->parts = 1; /* this function's */
    peer->flying = flush;
    if (peer->issued.messages > peer->answered.messages)
        ask_target(flush);
    if (lat_unlikely(peer->issued.puts > peer->answered.puts)) {
        flush->parts++;
        link_land(peer, end_landing, flush);
    }
    end_part(flush);
}

uint16_t link_hang(struct link_peer *peer, struct uccs_request *request)
{
    struct link_lane *lane = peer->lane;
    if (!peer->next)
        peer->next = new_flush(peer);
    struct link_hanging *hanging = append(peer->next, request, 0);
    if (!hanging->number)
        hanging->number = (uint16_t)(LINK_REQUEST | lane->requested++);
    put_on_hung(peer);
    return hanging->number;
}

/* Starts the flushes of hung peers. A peer whose flush is still under way stays on the list. */
void link_nudge(struct link_lane *lane)
{
    struct link_peer **at = &lane->hung;
    while (*at) {
        struct link_peer *peer = *at;
        if (peer->flying) {
            at = &peer->next_hung;
            continue;
        }
        *at = peer->next_hung;
        peer->hung = false;
        if (peer->next)
            start(peer);
    }
}

void link_flush_peer(struct link_peer *peer, struct link_point number, struct uccs_request *all, struct link_mark *mark,
                     bool waits)
{
    if (peer->flying && link_reaches(peer->flying->covers, number)) {
        append(peer->flying, all, mark);
        return;
    }
    if (!peer->next)
        peer->next = new_flush(peer);
    append(peer->next, all, mark);
    if (!waits || !atomic_load_relaxed(&uccs_waiting) || (!peer->flying && !uccs_is_crowd())) {
        start(peer);
        return;
    }
    peer->gathers = true;
    link_batch_keep(&peer->box, peer->lane, peer->lane != link_service()); /* there answers leave by the same box */
    if (!peer->flying)
        put_on_hung(peer);
}

/* Tells the requests that hang on the flush which numbers were refused. */
static void note_refused(struct link_flush *flush, const uint16_t *numbers, size_t count)
{
    uint64_t refused[(UINT16_MAX + 1) / 64] = {0};
    for (size_t i = 0; i < count; i++)
        refused[numbers[i] / 64] |= UINT64_C(1) << numbers[i] % 64;
    for (uint32_t i = 0; i < flush->count; i++) {
        struct link_hanging *hanging = &flush->requests[i];
        hanging->refused = refused[hanging->number / 64] >> hanging->number % 64 & 1;
    }
}

static bool land_flushed(struct link_arrival *arrival, const void *numbers)
{
    struct link_flush *flush = link_answered(arrival);
    const size_t count = arrival->bytes / sizeof(uint16_t);
    if (lat_unlikely(count)) {
        link_mark_refused(arrival->lane, (int)arrival->header.from, numbers, count);
        note_refused(flush, numbers, count);
    }
    struct link_peer *peer = flush->peer;
    const uint64_t refused = arrival->header.flushed.refused;
    flush->refused = refused > peer->refused;
    if (flush->refused)
        peer->refused = refused;
    if (flush->covers.messages > peer->answered.messages)
        peer->answered.messages = flush->covers.messages;
    end_part(flush);
    return true;
}

/* The target has applied as many operations as this process has issued, so it has applied each of them. */
void link_hear(const struct link_ask *ask, uint64_t applied)
{
    struct link_peer *peer = ask->lane->peers[ask->pe];
    if (applied == peer->issued.messages && applied > peer->answered.messages)
        peer->answered.messages = applied;
}

uint64_t link_told(const struct link_arrival *arrival)
{
    return arrival->origin->refused ? 0 : arrival->origin->applied + 1;
}

/* The target's side. It handles a flush when all operations issued before have been applied. */
static void answer_flush(struct link_arrival *arrival)
{
    struct link_origin *origin = arrival->origin;
    struct link_message answer = {.header.kind = LINK_FLUSHED};
    answer.header.flushed.asker = arrival->header.flush.asker;
    answer.header.flushed.refused = origin->refused;
    answer.data = answer.buffer = link_refusals_take(origin, &answer.bytes);
    link_answer(origin, &answer);
}

const struct link_handler link_on_flush = {.landed = answer_flush};
const struct link_handler link_on_flushed = {.loose = true, .land = land_flushed};

void link_touch(struct link_lane *lane)
{
    if (atomic_load_relaxed(&lane->some))
        return; /* pollers read the cache lines of both words, so do not store a value that is there already */
    atomic_store_relaxed(&lane->some, 1);
    if (lane == link_service())
        atomic_store_relaxed(&uccs_far_touched, 1);
}

void link_untouch(struct link_lane *lane)
{
    uint32_t some = lane->touched || lane->first;
    atomic_store_relaxed(&lane->some, some);
    if (lane == link_service())
        atomic_store_relaxed(&uccs_far_touched, some);
}
