/* The reaper: the process between oshrun and the supervisor, which outlives the supervisor and does nothing else.
 *
 * A job has three processes of ours: oshrun, its child the reaper, and the reaper's child the supervisor (`ps` shows lateral-reaper and
 * lateral-supervisor). Any two of them may be killed together; the third then ends all processes that PEs have started:
 * - the supervisor sees its pipe from oshrun close and kills every descendant;
 * - the reaper sees the supervisor die. PEs die with the supervisor (PR_SET_PDEATHSIG, and base/process.h under wrapper
 *   scripts); the processes that they leave behind become children of the reaper, which is a subreaper and kills them all;
 * - oshrun does the same for the reaper.
 * Both wait for their child in attend. A stopped supervisor sees nothing, until the kernel tells the reaper of oshrun's death by SIGCONT, which
 * that passes on; one that stays for a second after that is killed. oshrun lets a stopped reaper go on. */
#ifndef LAUNCH_REAPER_H
#define LAUNCH_REAPER_H

#include "options.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define SUPERVISOR_MS 1000 /* for a supervisor to end the job after oshrun's or the reaper's death */

/* Reaps until no child is left, for wait_ms by itself, then for patience_ms by killing; processes may not die that are stuck in the
 * kernel, or another user's. The caller has blocked SIGCHLD. */
void end_children(int wait_ms, int patience_ms);

/* Waits for the child, and passes signals (blocked) on to it. Returns its status, as waitpid gives it. In oshrun, which the shell sees, it
 * also dies of Ctrl-C when the job has, and stops by Ctrl-Z. */
int attend(pid_t child, const sigset_t *signals, bool is_oshrun);

/* Ends this process by the signal. */
_Noreturn void die_of(int signal);

/* The supervisor, the parent and subreaper of the PEs: starts them, moves their output and judges their ends.
 *
 * Ends the process with the job's exit status. front is the reading end of a pipe that oshrun holds open. signals is
 * the mask to give to PEs. The supervisor passes on the signals of its parent, the reaper. */
_Noreturn void supervisor_run(struct options *options, int front, const sigset_t *signals);
/* Gives the signals that oshrun and supervisor read from their queue instead of having them delivered. Signals that were
 * ignored at the start stay ignored. */
void supervisor_signals(sigset_t *set);

#endif
