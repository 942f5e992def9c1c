/* Order and completion on the node. An operation is complete when its stores are visible, so both functions are fences
 * of the processor. For peers of other nodes see proto/proto.h. Any thread may call them; they order the calling thread's
 * operations. */
#ifndef UCCS_CORE_FENCE_H
#define UCCS_CORE_FENCE_H

#include "base/atomic.h"

/* Orders earlier puts and atomics before later ones, per target. Partner: the acquire loads in wait loops. */
static inline void uccs_fence_stores(void)
{
    atomic_fence_release();
}

/* Completes earlier operations at their targets before anything that follows, loads included. */
static inline void uccs_quiet(void)
{
    atomic_fence_seqcst();
}

#endif
