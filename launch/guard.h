/* The process between oshrun and its PEs.
 *
 * oshrun forks it first and then only waits for it; it starts the PEs, moves their output, judges
 * their ends. As their parent and subreaper it outlives oshrun: when oshrun is killed, even by
 * SIGKILL, the guard sees its pipe close and kills every descendant. When the guard itself is
 * killed the PEs die with it (PR_SET_PDEATHSIG) and oshrun sweeps up the rest. */
#ifndef LAUNCH_GUARD_H
#define LAUNCH_GUARD_H

#include "options.h"

#include <signal.h>

/* front is the reading end of a pipe that oshrun holds open. signals is the mask to give to PEs.
 * Ends the process with the job's exit status. */
_Noreturn void guard_run(struct options *options, int front, const sigset_t *signals);
/* The signals that oshrun and guard take from their queue instead of being hit by them; those that
 * were ignored at the start stay so. */
void guard_signals(sigset_t *set);

#endif
