/* Order and completion on the node: an operation is complete when its stores are visible, so both are fences of the
 * processor. far.h has peers of other nodes. Any thread; a fence orders the calling thread's operations. */
#ifndef UCCS_CORE_FENCE_H
#define UCCS_CORE_FENCE_H

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
