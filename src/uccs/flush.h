/* Order and completion of what this PE has issued.
 *
 * On the node an operation is complete when its stores are visible, so these are fences. Any thread;
 * a fence orders the calling thread's operations. */
#ifndef UCCS_FLUSH_H
#define UCCS_FLUSH_H

#include "base/atomic.h"

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

#endif
