/* The reaper: the process between oshrun and the supervisor, which outlives the supervisor and does nothing else.
 *
 * A job has three processes of ours: oshrun, its child the reaper (lateral-reaper), and the reaper's child the supervisor
 * (lateral-supervisor). Any two of them may be killed together; the third then ends all processes that PEs have started:
 * - the supervisor sees its pipe from oshrun close and kills every descendant;
 * - the reaper sees the supervisor die. PEs die with the supervisor (PR_SET_PDEATHSIG, and base/parent_death.h under wrapper
 *   scripts); the processes that they leave behind become children of the reaper, which is a subreaper and kills them all;
 * - oshrun does the same for the reaper.
 * A stopped supervisor sees nothing, so the reaper watches the pipe too, and kills a supervisor that does not end with oshrun. */
#ifndef LAUNCH_REAPER_H
#define LAUNCH_REAPER_H

#include <sys/types.h>

/* Kills and reaps until no child is left. Gives up after patience_ms on processes that do not die (stuck in the kernel,
 * or of another user). The caller has blocked SIGCHLD. */
void kill_leftovers(int patience_ms);

/* Waits for the supervisor, this process's child. front is the pipe from oshrun. Ends as the supervisor did: with its status, or by
 * its signal after a sweep. SIGCHLD is blocked. */
_Noreturn void reaper_run(pid_t supervisor, int front);

#endif
