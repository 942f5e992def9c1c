#include "uccs/core/wait.h"

#include "base/clock.h"
#include "uccs/core/look.h"
#include "uccs/core/poll.h"
#include "uccs/core/poller.h"

#include <sched.h>
#include <time.h>

#define YIELDS_BEFORE_SLEEP 500 /* some milliseconds on a crowded node */
#define SLEEP_NANOSECONDS 50000
#define SLEEPS_ALIKE 8  /* a waiter's sleeps of one length, before it doubles it */
#define YIELDS_A_STAY 8 /* after so many yields a waiter looks at the clock */
#define NOBODY 700      /* nanoseconds: a yield that takes less has found nobody who wants the core */
#define LOOKS_ALONE 32  /* looks of a waiter alone on its core until it yields again */

/* A yield costs more than a look at a network, and a message that comes meanwhile waits for its end. So a waiter whose yield
 * has found nobody looks some times before the next one: a thread that comes to want the core waits some microseconds
 * longer. */
static uint64_t yield_core(void)
{
    static _Thread_local uint32_t alone;
    if (!atomic_load_relaxed(&uccs_due_endless)) { /* a look is a load */
        sched_yield();
        return 0;
    }
    if (alone) {
        alone--;
        return 0;
    }
    const uint64_t start = clock_nanoseconds();
    sched_yield();
    const uint64_t took = clock_nanoseconds() - start;
    alone = took < NOBODY ? LOOKS_ALONE : 0;
    return took;
}

/* A core serves some hundred thousand short sleeps a second: of a thousand waiters that sleep for 100 us each it does nothing else, and
 * the PE for which they wait has a hundredth of it. So the longest sleep grows with the number of PEs on a core. */
uint32_t uccs_wait_naps(uint32_t crowd)
{
    uint32_t naps = 0;
    for (; crowd >= 4; crowd /= 2)
        naps++;
    return naps;
}

long uccs_wait_sleep(long shortest, uint32_t before)
{
    const uint32_t doubled = before / SLEEPS_ALIKE;
    return shortest << (doubled < uccs_core.naps ? doubled : uccs_core.naps);
}

uint64_t uccs_yield_slow(struct uccs_wait *wait)
{
    if (uccs_pollers())
        return 0;
    uint32_t yields = ++wait->looks - uccs_core.spin;
    if (lat_unlikely(yields % YIELDS_A_STAY == 0))
        uccs_wait_record(wait);
    if (!uccs_core.oversubscribed || yields < YIELDS_BEFORE_SLEEP)
        return yield_core();
    if (wait->looks == UINT32_MAX)
        wait->looks--;
    const uint64_t start = clock_nanoseconds();
    struct timespec time = {0, uccs_wait_sleep(SLEEP_NANOSECONDS, yields - YIELDS_BEFORE_SLEEP)};
    nanosleep(&time, 0);
    return clock_nanoseconds() - start;
}

/* The waiter comes here at the first look, when it has work to advance, and when it shall yield. */
lat_cold void uccs_pause_slow(struct uccs_wait *wait)
{
    if (wait->looks < uccs_core.spin && !atomic_load_relaxed(&uccs_due)) {
        atomic_settle();
        wait->looks++;
        return;
    }
    int found = uccs_look();
    found |= uccs_poll(UCCS_POLL_IDLE);
    if (!found)
        uccs_yield(wait);
}

void uccs_wait_tasks_finished(void)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (uccs_due_ends())
        uccs_pause(&wait);
}
