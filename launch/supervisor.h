/* The supervisor: the parent of the PEs (`ps` shows lateral-guard).
 *
 * It starts the PEs, moves their output and judges their ends. As their parent and subreaper it outlives oshrun: when
 * oshrun is killed, even by SIGKILL, the supervisor sees its pipe close and kills every descendant. When the supervisor itself
 * is killed, the PEs die with it (PR_SET_PDEATHSIG) and the reaper ends all processes that they started (reaper.h). */
#ifndef LAUNCH_SUPERVISOR_H
#define LAUNCH_SUPERVISOR_H

#include "options.h"

#include <signal.h>

/* Ends the process with the job's exit status. front is the reading end of a pipe that oshrun holds open. signals is
 * the mask to give to PEs. The supervisor passes on the signals of its parent, the reaper. */
_Noreturn void supervisor_run(struct options *options, int front, const sigset_t *signals);
/* Gives the signals that oshrun and supervisor read from their queue instead of having them delivered. Signals that were
 * ignored at the start stay ignored. */
void supervisor_signals(sigset_t *set);

#endif
