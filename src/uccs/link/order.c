/* Fences and quiets of contexts, which are sets of lanes. Any thread. */
#include "uccs/link/inner.h"

#define EACH_LANE(lane, left, lanes) \
    uint64_t left = (lanes);         \
    for (struct link_lane *lane = 0; left && (lane = &link_lanes[__builtin_ctzll(left)]); left &= left - 1)

void uccs_far_flush(struct uccs_far_lanes *on, struct uccs_request *request)
{
    EACH_LANE(lane, left, link_lanes_of(on))
    {
        pthread_mutex_lock(&lane->lock);
        link_flush_touched(lane, request, false);
        link_ask_watch(lane, request);
        uccs_eventcount_unlock(&lane->events, &lane->lock);
    }
}

void uccs_far_quiet(struct uccs_far_lanes *on)
{
    link_quiet(link_lanes_of(on), 0, 0);
}

void uccs_far_quiet_pes(struct uccs_far_lanes *on, const int *pes, size_t npes)
{
    link_quiet(link_lanes_of(on), pes, npes);
}

void uccs_far_quiet_all(void)
{
    link_quiet(link_lanes_open(), 0, 0);
}

/* A fence on one lane only increments a number; each peer takes it over with the next operation to it. */
static void fence(struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->epoch++;
    pthread_mutex_unlock(&lane->lock);
}

/* Numbers do not order operations across lanes, so with several lanes a fence completes the operations. A lane that
 * joins later must know of the fence (pool.c). */
void uccs_far_fence(struct uccs_far_lanes *on)
{
    if (on)
        atomic_store_seqcst(&on->fenced, 1);
    uint64_t lanes = link_lanes_of(on);
    if (lanes & (lanes - 1))
        link_quiet(lanes, 0, 0);
    else if (lanes)
        fence(&link_lanes[__builtin_ctzll(lanes)]);
}

void uccs_far_fence_all(void)
{
    if (atomic_load_relaxed(&link_others))
        uccs_far_quiet_all();
    else
        fence(link_service());
}

void uccs_far_release(struct uccs_far_lanes *on)
{
    uccs_far_quiet(on);
    link_pool_leave(on->used);
    *on = (struct uccs_far_lanes){.spread = on->spread};
}
