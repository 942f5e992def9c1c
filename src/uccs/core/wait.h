/* The only wait loop. A waiter spins briefly, then yields. On a node with more PEs than cores it yields at once, and
 * after long fruitless yielding it sleeps for short times, so that the PEs with work get the cores. A signal only makes
 * the loop look again.
 *
 * After one look, the waiter lets its earlier loads complete. Otherwise the processor would run later looks, and the
 * loads of the data behind them, ahead of time and fetch lines that the peer is still writing. Then it looks as often as it
 * can. On AMD's processors nothing is better, whether the peer is 25 or 260 ns away.
 *
 * On Intel's servers (uccs_core.stingy; measured on one of 2025, whose cores share no cache below the L3) a look that comes
 * just before the peer's store costs the peer a second journey of the line. So the spinning has three more parts there.
 * First, the waiter looks as often as it can for as long as a PE that shares a cache with it needs to answer (some tens of
 * nanoseconds). Second, while a PE further away may be writing a short answer (some 0.3 us), it looks every 50 ns. Third,
 * it looks as often as it can again: a long answer is the sooner here the earlier its first lines are asked for. Who adds
 * to a counter or a signal asks for its line, and for the data's, before it stores (lat_move_before); on AMD's processors
 * that made messages slower by up to a fifth.
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
#include "uccs/core/stay.h"

/* Learns how waiters look on this processor. */
void uccs_wait_open(void);
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
    if (lat_likely(wait->looks - 1 < uccs_core.quick_looks && wait->looks < uccs_core.spin &&
                   !atomic_load_relaxed(&uccs_due)))
        wait->looks++;
    else
        uccs_pause_slow(wait);
}

/* Waits until no work (work.h) is left. Other processes need this one's share also of work that nobody here has waited
 * for. */
void uccs_wait_work_finished(void);

#endif
