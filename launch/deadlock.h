/* Whether the PEs of a node are stuck for ever. One thread. */
#ifndef LAUNCH_DEADLOCK_H
#define LAUNCH_DEADLOCK_H

#include "waiters.h"

#include <stdbool.h>

/* Starts zeroed. */
struct deadlock {
    uint64_t since; /* nanoseconds of CLOCK_MONOTONIC at which the job was first seen stuck like this; 0: it is not */
    uint64_t mark;  /* a digest of the waits; it changes when one of them begins, ends, or sees another value */
    uint64_t looks; /* sum of the looks of the waiters then */
    bool idle;      /* nobody waits, and nobody may go on: all have finalized or ended */
};

/* Looks at the PEs. Returns the seconds for which they have been stuck without a change; 0: some PE may go on.
 *
 * A PE is stuck when each of its threads is in a wait of the library that has no time limit, or sleeps until another
 * thread of the process wakes it (a futex without a time limit), or is the library's own. A thread that computes,
 * sleeps, reads or polls may still act, so its PE is not stuck. Handlers of signals are not considered. */
double deadlock_look(struct deadlock *deadlock, const struct view *view);

#endif
