/* Moves lanes on: sends waiting messages and handles arrived ones. */
#include "uccs/link/inner.h"

#define POLLS_A_LOOK 4096 /* one poll in this many looks at the lines; polls may be 50 us apart */

/* Returns non-zero when something came in or has left, else 0. */
static int look(struct link_lane *lane)
{
    if (lane->hung)
        link_nudge(lane);
    link_land_wanted(lane);
    if (lane->boxes)
        link_batch_push_all(lane);
    int count = link_transport->progress(lane->at);
    if (lane->boxes)
        link_batch_push_all(lane);
    if (count)
        uccs_eventcount_tell(&lane->events);
    return count;
}

bool link_poll_clear(struct link_lane *lane)
{
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return false;
    look(lane);
    bool clear = lane->sending == 0;
    uccs_eventcount_unlock(&lane->events, &lane->lock);
    return clear;
}

int link_poll(struct link_lane *lane)
{
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return 0;
    if (lat_unlikely(!lane->at)) { /* closed; this thread still waits for a message that will never come */
        pthread_mutex_unlock(&lane->lock);
        return 0;
    }
    uint32_t polls = lane->polls + 1;
    atomic_store_relaxed(&lane->polls, polls); /* a hint for thread.c */
    int count = look(lane);
    uccs_eventcount_unlock(&lane->events, &lane->lock);
    if (lat_unlikely(polls % POLLS_A_LOOK == 0))
        uccs_keepalive_poll(); /* a process without the progress thread needs it */
    return count;
}

/* A waiter serves peers too, whether there is a progress thread or not: two PEs that wait for each other's answers would else
 * both wait for their threads, which the waiters keep from the cores. */
int link_look_all(uint64_t lanes)
{
    int count = 0;
    for (lanes |= 1; lanes; lanes &= lanes - 1)
        count += link_poll(&link_lanes[__builtin_ctzll(lanes)]);
    return count;
}

int link_look(struct link_lane *lane)
{
    return link_look_all(UINT64_C(1) << lane->number);
}
