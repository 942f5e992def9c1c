/* Waits for messages on lanes. A waiter looks, then yields, as all waits do (core/wait.h). Where other threads want its
 * core a yield costs it a time slice, some milliseconds, since a thread that yields again and again gets the core last. A
 * thread that has slept gets it at once. So a waiter whose yield took long sleeps from then on, until the transport has
 * something for one of its lanes; now and then it tries whether a yield is still slow.
 *
 * Another thread may take the message that this one waits for, so the sleep is short. Any thread, without a lock. */
#include "base/clock.h"
#include "uccs/link/news.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/poller.h"

#include <poll.h>
#include <time.h>

#define SLOW 200000     /* nanoseconds: a yield that takes longer has given the core to somebody who works */
#define SPIN 30000      /* nanoseconds of looks before a sleep: the way there and back takes so long */
#define SLEEP 100000    /* nanoseconds a sleep lasts at most, the first ones of a wait */
#define NAP 20000       /* the same while another thread moves all the lanes on */
#define FEWEST 16       /* sleeps until the next try of a yield */
#define SLEEPS_A_STAY 8 /* after so many sleeps a waiter looks at the clock, as after yields */
#define MOST 4096

/* Of this thread. */
static _Thread_local uint32_t sleeps; /* left until it yields again */
static _Thread_local uint32_t next;   /* number of sleeps after the next slow yield: more when they follow each other */
static _Thread_local uint64_t since;  /* the start of the looks before its first sleep in a wait */
static _Thread_local uint32_t slept;  /* sleeps in this wait */

static void yield(struct uccs_wait *wait)
{
    const bool first = wait->looks == uccs_core.spin;
    if (lat_unlikely(uccs_yield(wait) > SLOW)) {
        sleeps = next > FEWEST ? next : FEWEST;
        next = 4 * sleeps < MOST ? 4 * sleeps : MOST;
        slept = 0;
    } else if (first) {
        next -= next / 4;
    }
}

/* Asks the transport to make the lane's descriptor readable when something happens. Returns 0 when something has
 * happened already. Else it returns 1, and stores the descriptor, or -1 when another thread has the lane. */
static int arm(struct link_lane *lane, int *descriptor)
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
    return !uccs_progress_thread_on || uccs_progress_thread_me ? lanes | 1 : lanes;
}

static void sleep_on(uint64_t lanes)
{
    struct pollfd files[LINK_LANES];
    nfds_t count = 0;
    for (; lanes; lanes &= lanes - 1) {
        files[count].events = POLLIN;
        if (!arm(&link_lanes[__builtin_ctzll(lanes)], &files[count].fd))
            return;
        count += files[count].fd >= 0;
    }
    const struct timespec time = {0, uccs_wait_sleep(count ? SLEEP : NAP, slept++)};
    (void)ppoll(files, count, &time, 0);
}

static bool may_sleep(struct uccs_wait *wait)
{
    if (wait->looks == uccs_core.spin) {
        wait->looks++;
        since = clock_nanoseconds();
        slept = 0;
    }
    return clock_nanoseconds() - since > SPIN && !uccs_pollers();
}

lat_cold static void rest_slow(uint64_t lanes, struct uccs_wait *wait)
{
    if (lat_likely(!sleeps)) {
        yield(wait);
    } else if (may_sleep(wait)) {
        sleeps--;
        sleep_on(woken_by(lanes));
        if (sleeps % SLEEPS_A_STAY == 0)
            uccs_wait_record(wait);
    }
}

/* More threads wait than there are cores. Looks of one keep the others from issuing, and its yields last long because of
 * them. */
lat_cold static void yield_to_crowd(struct uccs_wait *wait)
{
    if (wait->looks < uccs_core.spin)
        wait->looks = uccs_core.spin;
    uccs_yield(wait);
}

void link_rest(uint64_t lanes, struct uccs_wait *wait)
{
    if (lat_unlikely(link_is_crowd_awake()))
        yield_to_crowd(wait);
    else if (lat_likely(wait->looks < uccs_core.spin))
        wait->looks++;
    else
        rest_slow(lanes, wait);
}

void link_pause(struct link_lane *lane, struct uccs_wait *wait)
{
    if (!link_look(lane))
        link_rest(UINT64_C(1) << lane->number, wait);
}
