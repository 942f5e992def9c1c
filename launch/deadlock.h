/* Whether the PEs of a node are stuck for ever. One thread. */
#ifndef LAUNCH_DEADLOCK_H
#define LAUNCH_DEADLOCK_H

#include "segment.h"

#include <stdbool.h>

enum stuck {
    STUCK_NOT,
    STUCK_WAITS,
    STUCK_IDLE
}; /* idle: no PE can act, and none waits: all have finalized or ended */

/* Starts zeroed. */
struct deadlock {
    enum stuck stuck;
    uint64_t mark;  /* a digest of the waits; it changes when one of them begins, ends, or sees another value */
    uint64_t looks; /* sum of the looks of the waiters then */
    int64_t next;   /* when to look again, by loop_now; before that deadlock_look does nothing */
};

/* Looks at the PEs. They are stuck when a look finds them as the one before did. Returns true when `stuck` has changed.
 *
 * A PE is stuck when each of its threads is in a wait of the library that has no time limit, or sleeps until another
 * thread of the process wakes it (a futex without a time limit), or is the library's own. A thread that computes,
 * sleeps, reads or polls may still act, so its PE is not stuck. Handlers of signals are not considered. */
bool deadlock_look(struct deadlock *deadlock, const struct view *view);

#endif
