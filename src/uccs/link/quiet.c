/* Completes the operations issued on a set of lanes. Any thread, without a lock, unless a comment says otherwise. */
#include "uccs/link/inner.h"

/* A touched peer stays on the list until it has answered for all operations, so that other threads' quiets find it. */
void link_flush_touched(struct link_lane *lane, struct uccs_request *all, bool waits)
{
    struct link_peer **at = &lane->touched;
    while (*at) {
        struct link_peer *peer = *at;
        if (link_reaches(peer->answered, peer->issued)) {
            *at = peer->next_touched;
            peer->touched = false;
            continue;
        }
        if (all)
            link_flush_peer(peer, peer->issued, all, 0, waits);
        at = &peer->next_touched;
    }
    link_untouch(lane);
}

static void flush_pes(struct link_lane *lane, struct uccs_request *all, const int *pes, size_t npes)
{
    for (size_t i = 0; i < npes; i++) {
        struct link_peer *peer = lane->peers[pes[i]];
        if (peer && !link_reaches(peer->answered, peer->issued))
            link_flush_peer(peer, peer->issued, all, 0, true);
    }
}

#define EACH_LANE(lane, left, lanes) \
    uint64_t left = (lanes);         \
    for (struct link_lane *lane = 0; left && (lane = &link_lanes[__builtin_ctzll(left)]); left &= left - 1)

/* Returns true while gets or fetching atomics are under way that were issued before a quiet began (numbers below
 * `before`). `pes` null: to any PE. */
static bool asked(struct link_lane *lane, uint64_t before, const int *pes, size_t npes)
{
    if (atomic_load_acquire(&lane->oldest) >= before) /* release: ask.c; so this thread sees the data they brought */
        return false;
    if (!pes)
        return true;
    bool found = false;
    pthread_mutex_lock(&lane->lock);
    for (struct link_ask *ask = lane->first; ask && ask->number < before && !found; ask = ask->next)
        for (size_t i = 0; i < npes && !found; i++)
            found = ask->pe == pes[i];
    pthread_mutex_unlock(&lane->lock);
    return found;
}

static uint64_t start_quiet(struct link_lane *lane, struct uccs_request *all, const int *pes, size_t npes)
{
    pthread_mutex_lock(&lane->lock);
    if (pes)
        flush_pes(lane, all, pes, npes);
    else
        link_flush_touched(lane, all, true);
    uint64_t before = lane->asked;
    uccs_eventcount_unlock(&lane->events, &lane->lock);
    return before;
}

static void end_quiet(struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    link_flush_touched(lane, 0, false);
    pthread_mutex_unlock(&lane->lock);
}

/* acqrel: uccs_request_finish */
static bool quiet_there(struct link_lane *lane, const struct uccs_request *all, uint64_t before, const int *pes,
                        size_t npes)
{
    return atomic_load_acquire(&all->pending) == 1 && !asked(lane, before, pes, npes);
}

static void wait_for_one(struct link_lane *lane, const struct uccs_request *all, uint64_t before, const int *pes,
                         size_t npes)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
    struct uccs_follower me;
    uccs_follower_begin(&me, &lane->events, &lane->lock);
    while (!quiet_there(lane, all, before, pes, npes))
        link_follow(&me, lane, &wait);
    uccs_follower_end(&me);
}

/* Looks at all the lanes, since a thread that waits for one must serve the others, too. */
static void wait_for_some(uint64_t lanes, const struct uccs_request *all, const uint64_t *before, const int *pes,
                          size_t npes)
{
    uccs_waiting_count(1);
    EACH_LANE(lane, left, lanes)
    {
        struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(link_reason, 0)};
        while (!quiet_there(lane, all, before[lane->number], pes, npes))
            if (!link_look_all(lanes))
                link_rest(lanes, &wait);
    }
    uccs_waiting_count(-1);
}

/* `all` has an owner and no parent, so nobody frees it. */
void link_quiet(uint64_t lanes, const int *pes, size_t npes)
{
    uint64_t before[LINK_LANES], wanted = 0;
    struct uccs_request all = {.pending = 1};
    EACH_LANE(lane, left, lanes)
    {
        if (!atomic_load_relaxed(&lane->some))
            continue;
        before[lane->number] = start_quiet(lane, &all, pes, npes);
        wanted |= UINT64_C(1) << lane->number;
    }
    if (wanted && !(wanted & (wanted - 1))) {
        struct link_lane *only = &link_lanes[__builtin_ctzll(wanted)];
        wait_for_one(only, &all, before[only->number], pes, npes);
    } else {
        wait_for_some(wanted, &all, before, pes, npes);
    }
    EACH_LANE(lane, done, wanted)
    end_quiet(lane);
}
