/* The process between oshrun and the guard. Its only work is to outlive the guard.
 *
 * A job has three processes of ours: oshrun, its child the keeper, and the keeper's child the guard. Any two of them
 * may be killed together; the third then ends all processes that PEs have started:
 * - the guard sees its pipe from oshrun close and kills every descendant;
 * - the keeper sees the guard die. PEs die with the guard (PR_SET_PDEATHSIG, and base/parent_death.h under wrapper scripts);
 *   the processes that they leave behind become children of the keeper, which is a subreaper and kills them all;
 * - oshrun does the same for the keeper.
 * A stopped guard sees nothing, so the keeper watches the pipe too, and kills a guard that does not end with oshrun. */
#ifndef LAUNCH_KEEPER_H
#define LAUNCH_KEEPER_H

#include <sys/types.h>

/* Waits for the guard, this process's child. front is the pipe from oshrun. Ends as the guard did: with its status, or by
 * its signal after a sweep. SIGCHLD is blocked. */
_Noreturn void keeper_run(pid_t guard, int front);

#endif
