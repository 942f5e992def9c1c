/* Order and completion of what this PE has issued.
 *
 * On the node an operation is complete when its stores are visible, so those are fences; far.h has the rest. Any thread;
 * a fence orders the calling thread's operations. */
#ifndef UCCS_FLUSH_H
#define UCCS_FLUSH_H

#include "base/atomic.h"
#include "uccs/far.h"

/* Earlier puts and atomics before later ones, per target. Partner: the acquire loads in wait loops. */
static inline void uccs_fence_stores(void)
{
    atomic_fence_release();
}

/* Earlier operations are complete at their targets before anything that follows, loads included. */
static inline void uccs_quiet(void)
{
    atomic_fence_seqcst();
}

/* The same for all peers, on other nodes too, of the default context. */
static inline void uccs_fence_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_far_touched)))
        uccs_far_fence(0);
    uccs_fence_stores();
}

static inline void uccs_quiet_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_far_touched)))
        uccs_far_quiet(0);
    uccs_quiet();
}

#endif
