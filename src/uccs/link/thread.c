/* What the progress thread (core/progress_thread.h) does for the links: it moves the service lane on, so that the process
 * serves peers while the program is outside of the library, and sends what a computing program has left on other
 * lanes. */
#include "uccs/link/inner.h"

#include "uccs/core/progress.h"

/* Sends the messages that a computing program has left on other lanes. A lane keeps its bit while another thread holds
 * the lane, or while the transport still holds its messages (a connection takes several looks). */
static void send_left(void)
{
    uint64_t again = 0;
    for (uint64_t lanes = atomic_exchange_seqcst(&link_left, 0); lanes; lanes &= lanes - 1)
        if (!link_poll_clear(&link_lanes[__builtin_ctzll(lanes)]))
            again |= lanes & -lanes;
    if (again)
        (void)atomic_fetch_or_seqcst(&link_left, again);
}

/* Handles all waiting messages under the lane's lock. Returns how many came in or left. */
static int handle_all(struct link_lane *lane)
{
    int count, all = 0;
    if (lane->hung)
        link_nudge(lane);
    link_land_wanted(lane);
    do {
        link_batch_push_all(lane);
        count = link_transport->progress(lane->at);
        all += count;
    } while (count);
    if (all)
        uccs_eventcount_tell(&lane->events);
    return all;
}

/* Messages that a thread of the program has just left may still leave together with its next ones, so they wait for the
 * next look. A thread of the program that holds the lock may be about to poll; or it is stuck on a dead launcher, which the lines
 * tell (their alarm wakes the progress thread). */
static enum uccs_served serve(void)
{
    struct link_lane *lane = link_service();
    if (atomic_exchange_seqcst(&link_reminded, 0))
        return UCCS_SERVED_LATER;
    send_left();
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return UCCS_SERVED_SOON;
    int count = handle_all(lane);
    bool armed = !lane->boxes && link_transport->arm(lane->at);
    atomic_store_seqcst(&link_asleep, armed); /* either I see the lane's bit, or it sees me asleep */
    uccs_eventcount_unlock(&lane->events, &lane->lock);
    if (count || !armed)
        return UCCS_SERVED_SOME;
    return atomic_load_seqcst(&link_left) ? UCCS_SERVED_LATER : UCCS_SERVED_NOTHING;
}

static uint64_t polls(void)
{
    return atomic_load_relaxed(&link_service()->polls);
}

static struct uccs_progress_source served = {
    .serve = serve,
    .polls = polls,
    .tend = send_left, /* a thread that polls the service lane may not poll the others */
    .alarmed = uccs_keepalive_poll,
};

void link_thread_prepare(void)
{
    link_asleep = link_reminded = 0;
    link_left = 0;
    served.descriptor = link_transport->descriptor(link_service()->at);
    served.alarm = uccs_keepalive_descriptor();
    (void)uccs_progress_add(&served);
}
