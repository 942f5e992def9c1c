/* Order and completion of far operations: fences, flushes, and the requests that hang on them. See far.h.
 *
 * Invariants, under the lane's lock: a flush that is sent covers all that was issued before; at most one flush of a
 * peer is started for requests while another flies; `next` gathers requests until then. */
#include "uccs/far_lane.h"

#include <stdlib.h>

static struct far_flush *new_flush(struct far_peer *peer)
{
    struct far_flush *flush = calloc(1, sizeof *flush);
    if (!flush)
        far_fail("no memory for a flush of PE %d", peer->pe);
    flush->peer = peer;
    return flush;
}

static void append(struct far_flush *flush, struct uccs_request *request)
{
    if (flush->count && flush->requests[flush->count - 1] == request)
        return; /* one count per request and flush */
    if (flush->count == flush->room) {
        flush->room = flush->room ? 2 * flush->room : 4;
        flush->requests = realloc(flush->requests, flush->room * sizeof *flush->requests);
        if (!flush->requests)
            far_fail("no memory for a request on PE %d", flush->peer->pe);
    }
    flush->requests[flush->count++] = request;
    uccs_request_begin(request);
}

/* Sends the peer's next flush, with what hangs on it. The target counts what it has applied and does not know which, so
 * what follows must not overtake what the flush asks about. */
static void start(struct far_peer *peer)
{
    struct far_flush *flush = peer->next ? peer->next : new_flush(peer);
    peer->next = 0;
    flush->covers = peer->fenced = peer->issued;
    peer->flying = flush;
    struct far_send *send = far_send_new(peer->lane);
    send->header.kind = FAR_FLUSH;
    send->header.after = peer->issued;
    send->header.token = (uint64_t)(uintptr_t)flush;
    far_send(peer, send, 0, 0);
}

void far_hang(struct far_peer *peer, struct uccs_request *request)
{
    if (!peer->next)
        peer->next = new_flush(peer);
    append(peer->next, request);
    if (!peer->hung) {
        peer->hung = true;
        peer->next_hung = peer->lane->hung;
        peer->lane->hung = peer;
    }
}

/* The answer to a flush is there. Which of the operations failed it does not say: every request that hangs on it may have. */
void far_flushed(struct far_flush *flush, uint64_t refused)
{
    struct far_peer *peer = flush->peer;
    bool failed = refused > peer->refused;
    if (failed)
        peer->refused = refused;
    if (flush->covers > peer->answered)
        peer->answered = flush->covers;
    if (peer->flying == flush)
        peer->flying = 0;
    for (uint32_t i = 0; i < flush->count; i++)
        uccs_request_finish(flush->requests[i], failed);
    free(flush->requests);
    free(flush);
}

/* Peers whose flush is still under way stay for the next time. */
void far_nudge(struct far_lane *lane)
{
    struct far_peer **at = &lane->hung;
    while (*at) {
        struct far_peer *peer = *at;
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

/* Hangs `all` on a flush of a peer that has something unanswered. */
static void flush(struct far_peer *peer, struct uccs_request *all)
{
    if (peer->flying && peer->flying->covers == peer->issued) {
        append(peer->flying, all);
        return;
    }
    if (!peer->next)
        peer->next = new_flush(peer);
    append(peer->next, all);
    start(peer);
}

void far_touch(struct far_lane *lane)
{
    atomic_store_relaxed(&lane->some, 1);
    if (lane == far_service())
        atomic_store_relaxed(&uccs_far_touched, 1);
}

static void untouch(struct far_lane *lane)
{
    uint32_t some = lane->touched || lane->first;
    atomic_store_relaxed(&lane->some, some);
    if (lane == far_service())
        atomic_store_relaxed(&uccs_far_touched, some);
}

/* Touched peers stay on the list until all is answered, for the quiets of other threads. */
static void flush_touched(struct far_lane *lane, struct uccs_request *all)
{
    struct far_peer **at = &lane->touched;
    while (*at) {
        struct far_peer *peer = *at;
        if (peer->answered == peer->issued) {
            *at = peer->next_touched;
            peer->touched = false;
            continue;
        }
        if (all)
            flush(peer, all);
        at = &peer->next_touched;
    }
    untouch(lane);
}

static void flush_pes(struct far_lane *lane, struct uccs_request *all, const int *pes, size_t npes)
{
    for (size_t i = 0; i < npes; i++) {
        struct far_peer *peer = lane->peers[pes[i]];
        if (peer && peer->answered != peer->issued)
            flush(peer, all);
    }
}

/* --- Sets of lanes: any thread, without a lock ----------------------------------------------------------- */

#define EACH_LANE(lane, left, lanes) \
    uint64_t left = (lanes);         \
    for (struct far_lane *lane = 0; left && (lane = &far_lanes[__builtin_ctzll(left)]); left &= left - 1)

/* Gets and the like that were under way when a quiet began. */
static bool asked(struct far_lane *lane, uint64_t before, const int *pes, size_t npes)
{
    if (atomic_load_acquire(&lane->oldest) >= before) /* release: far_ask.c; what they brought is here */
        return false;
    if (!pes)
        return true;
    bool found = false;
    pthread_mutex_lock(&lane->lock);
    for (struct far_ask *ask = lane->first; ask && ask->number < before && !found; ask = ask->next)
        for (size_t i = 0; i < npes && !found; i++)
            found = ask->pe == pes[i];
    pthread_mutex_unlock(&lane->lock);
    return found;
}

static uint64_t start_quiet(struct far_lane *lane, struct uccs_request *all, const int *pes, size_t npes)
{
    pthread_mutex_lock(&lane->lock);
    if (pes)
        flush_pes(lane, all, pes, npes);
    else
        flush_touched(lane, all);
    uint64_t before = lane->asked;
    pthread_mutex_unlock(&lane->lock);
    return before;
}

static void end_quiet(struct far_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    flush_touched(lane, 0);
    pthread_mutex_unlock(&lane->lock);
}

/* `all` is no one's child and has an owner, so nobody frees it. */
void far_quiet(uint64_t lanes, const int *pes, size_t npes)
{
    uint64_t before[FAR_LANES], wanted = 0;
    struct uccs_request all = {.pending = 1};
    EACH_LANE(lane, left, lanes)
    {
        if (!atomic_load_relaxed(&lane->some))
            continue;
        before[lane->number] = start_quiet(lane, &all, pes, npes);
        wanted |= UINT64_C(1) << lane->number;
    }
    EACH_LANE(lane, still, wanted)
    {
        struct uccs_wait wait = {0};
        /* Of all lanes, since who waits for one must serve the others, too. acqrel: finish */
        while (atomic_load_acquire(&all.pending) != 1 || asked(lane, before[lane->number], pes, npes))
            if (!far_look_all(wanted))
                uccs_yield(&wait);
        end_quiet(lane);
    }
}

void uccs_far_flush(struct uccs_far_lanes *on, struct uccs_request *request)
{
    EACH_LANE(lane, left, far_lanes_of(on))
    {
        pthread_mutex_lock(&lane->lock);
        flush_touched(lane, request);
        far_ask_watch(lane, request);
        pthread_mutex_unlock(&lane->lock);
    }
}

void uccs_far_quiet(struct uccs_far_lanes *on)
{
    far_quiet(far_lanes_of(on), 0, 0);
}

void uccs_far_quiet_pes(struct uccs_far_lanes *on, const int *pes, size_t npes)
{
    far_quiet(far_lanes_of(on), pes, npes);
}

void uccs_far_quiet_all(void)
{
    far_quiet(far_lanes_open(), 0, 0);
}

/* On one lane a fence is a number: peers take it over with the next operation to them. */
static void fence(struct far_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->epoch++;
    pthread_mutex_unlock(&lane->lock);
}

/* No numbers hold between lanes: where there are several, what was issued has to be complete. A lane that joins later
 * must know of the fence (far_pool.c). */
void uccs_far_fence(struct uccs_far_lanes *on)
{
    if (on)
        atomic_store_seqcst(&on->fenced, 1);
    uint64_t lanes = far_lanes_of(on);
    if (lanes & (lanes - 1))
        far_quiet(lanes, 0, 0);
    else if (lanes)
        fence(&far_lanes[__builtin_ctzll(lanes)]);
}

void uccs_far_fence_all(void)
{
    if (atomic_load_relaxed(&far_others))
        uccs_far_quiet_all();
    else
        fence(far_service());
}
