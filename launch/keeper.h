/* The process between oshrun and the guard: it does nothing but outlive the guard.
 *
 * A job has three processes of ours: oshrun, its child the keeper, and the keeper's child the guard. Each two of them may
 * be killed together, and the third ends what PEs have started:
 * - the guard sees its pipe from oshrun close, and kills every descendant;
 * - the keeper sees the guard die. PEs die with the guard (PR_SET_PDEATHSIG); what they leave behind becomes the
 *   keeper's, which is a subreaper, and it kills all of that;
 * - oshrun does the same for the keeper. */
#ifndef LAUNCH_KEEPER_H
#define LAUNCH_KEEPER_H

#include <sys/types.h>

/* Waits for the guard, this process's child, and ends as the guard did: with its status, or by its signal after a sweep. */
_Noreturn void keeper_run(pid_t guard);

#endif
