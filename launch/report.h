/* Where the PEs of a job are, who waits for whom, and whether the job is stuck for ever. One thread. */
#ifndef LAUNCH_REPORT_H
#define LAUNCH_REPORT_H

#include "waiters.h"

#include <sys/types.h>

/* Starts zeroed. */
struct deadlock {
    uint64_t since; /* nanoseconds of CLOCK_MONOTONIC at which the job was first seen stuck like this; 0: it is not */
    uint64_t mark;  /* a digest of the waits; it changes when one of them begins, ends, or sees another value */
    uint64_t looks; /* sum of the looks of the waiters then */
};

/* Looks at the job. Returns the seconds for which it has been stuck without a change; 0: some PE may go on.
 *
 * A PE is stuck when each of its threads is in a wait of the library that has no time limit, or sleeps until another
 * thread of the process wakes it (a futex without a time limit), or is the library's own. A thread that computes,
 * sleeps, reads or polls may still act, so its PE is not stuck. Handlers of signals are not considered. */
double deadlock_look(struct deadlock *deadlock, const struct view *view);

/* Prints a line for each PE, equal ones together, then the verdict. */
void report_print(const struct view *view);

/* `pid` is oshrun's, its supervisor's or one of the PEs'. Returns the exit status, after a line when there is no such job. */
int status_print(pid_t pid);

#endif
