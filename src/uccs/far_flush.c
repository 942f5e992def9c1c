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

/* Sends the peer's next flush, with what hangs on it. */
static void start(struct far_peer *peer)
{
    struct far_flush *flush = peer->next ? peer->next : new_flush(peer);
    peer->next = 0;
    flush->covers = peer->issued;
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

/* The answer to a flush is there. */
void far_flushed(struct far_flush *flush)
{
    struct far_peer *peer = flush->peer;
    if (flush->covers > peer->answered)
        peer->answered = flush->covers;
    if (peer->flying == flush)
        peer->flying = 0;
    for (uint32_t i = 0; i < flush->count; i++)
        uccs_request_finish(flush->requests[i], false);
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

/* A fence is a number: peers take it over with the next operation to them. */
void uccs_far_fence(struct uccs_far_lanes *on)
{
    struct far_lane *lane = far_lane_of(on);
    pthread_mutex_lock(&lane->lock);
    lane->epoch++;
    pthread_mutex_unlock(&lane->lock);
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
    if (lane == far_service())
        atomic_store_relaxed(&uccs_far_touched, lane->touched || lane->getting);
}

static void flush_lane(struct far_lane *lane, struct uccs_request *all)
{
    pthread_mutex_lock(&lane->lock);
    flush_touched(lane, all);
    pthread_mutex_unlock(&lane->lock);
}

void uccs_far_flush(struct uccs_far_lanes *on, struct uccs_request *all)
{
    flush_lane(far_lane_of(on), all);
}

/* `all` is no one's child and has an owner, so nobody frees it. */
void uccs_far_quiet(struct uccs_far_lanes *on)
{
    struct far_lane *lane = far_lane_of(on);
    struct uccs_request all = {.pending = 1};
    struct uccs_wait wait = {0};
    flush_lane(lane, &all);
    while (atomic_load_acquire(&all.pending) != 1 || atomic_load_acquire(&lane->getting)) /* acqrel: finish */
        if (!far_look(lane))
            uccs_yield(&wait);
    flush_lane(lane, 0);
}
