/* Waits for messages on lanes. What a waiter does when it has found nothing: core/wait.h. Any thread, without a lock. */
#include "uccs/link/inner.h"

#include "uccs/core/doorbell.h"

#include <poll.h>

_Static_assert(LINK_LANES <= UCCS_REST_FILES, "a descriptor for each lane");

/* Asks the transport to make the lane's descriptor readable when something happens. Returns 0 when something has
 * happened already. Else it returns 1, and stores the descriptor, or -1 when another thread has the lane. */
static int arm_lane(struct link_lane *lane, int *descriptor)
{
    *descriptor = -1;
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return 1;
    int armed = lane->at && !lane->boxes ? link_transport->arm(lane->at) : 0;
    if (armed)
        *descriptor = link_transport->descriptor(lane->at);
    pthread_mutex_unlock(&lane->lock);
    return armed;
}

/* A waiter that sleeps looks too rarely to serve peers, so it leaves the service lane to the progress thread. That thread itself
 * serves it in the waits of handlers, since nobody else may. */
static uint64_t woken_by(uint64_t lanes)
{
    return !atomic_load_relaxed(&uccs_progress_thread_on) || uccs_progress_thread_me ? lanes | 1 : lanes;
}

static int arm_lanes(uint64_t lanes, struct pollfd *files)
{
    int count = 0;
    for (lanes = woken_by(lanes); lanes; lanes &= lanes - 1) {
        files[count].events = POLLIN;
        if (!arm_lane(&link_lanes[__builtin_ctzll(lanes)], &files[count].fd))
            return -1;
        count += files[count].fd >= 0;
    }
    return count;
}

void link_rest(uint64_t lanes, struct uccs_wait *wait)
{
    uccs_rest_on(wait, arm_lanes, lanes);
}

void link_pause(struct link_lane *lane, struct uccs_wait *wait)
{
    if (!link_look(lane))
        link_rest(UINT64_C(1) << lane->number, wait);
}

void link_follow(struct uccs_follower *me, struct link_lane *lane, struct uccs_wait *wait)
{
    if (uccs_follower_may_look(me, wait))
        link_pause(lane, wait);
}
