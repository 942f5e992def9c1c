/* The only wait loop. A waiter spins briefly, then yields. On a node with more PEs than cores it yields at once, and
 * after long fruitless yielding it sleeps for short times, so that the PEs with work get the cores. A signal only makes
 * the loop look again.
 *
 * After one look, the waiter lets its earlier loads complete. Otherwise the processor would run later looks, and the
 * loads of the data behind them, ahead of time and fetch lines that the peer is still writing.
 *
 * Any thread:
 *     struct uccs_wait wait uccs_scoped = {0};
 *     while (atomic_load_acquire(flag) != value)
 *         uccs_pause(&wait);
 */
#ifndef UCCS_CORE_WAIT_H
#define UCCS_CORE_WAIT_H

#include "uccs/core/core.h"
#include "uccs/core/due.h"
#include "uccs/core/wait_record.h"

/* Returns how often sleeps may double where so many PEs share each core. */
uint32_t uccs_wait_naps(uint32_t crowd);
/* Returns how long a waiter sleeps that has slept so often before; `shortest` and the result in nanoseconds. */
long uccs_wait_sleep(long shortest, uint32_t before);

void uccs_pause_slow(struct uccs_wait *wait);
uint64_t uccs_yield_slow(struct uccs_wait *wait);

/* Counts a look, and once the waiter has spun long enough, calls the program's pollers and yields. Callers make progress
 * themselves at every look, and hold no lock that a poller could need. Returns for how many nanoseconds the core was given
 * away; 0: it was not, or that is not known. */
static inline uint64_t uccs_yield(struct uccs_wait *wait)
{
    if (lat_unlikely(wait->looks >= uccs_core.spin))
        return uccs_yield_slow(wait);
    wait->looks++;
    return 0;
}

static inline void uccs_pause(struct uccs_wait *wait)
{
    if (lat_likely(wait->looks && wait->looks < uccs_core.spin && !atomic_load_relaxed(&uccs_due)))
        wait->looks++;
    else
        uccs_pause_slow(wait);
}

/* Waits until no work (work.h) is left. Other processes need this one's share also of work that nobody here has waited
 * for. */
void uccs_wait_tasks_finished(void);

#endif
