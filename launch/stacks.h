/* The stacks of a PE, by a debugger of the system (--get-stack-traces). One thread. */
#ifndef LAUNCH_STACKS_H
#define LAUNCH_STACKS_H

#include <sys/types.h>

#define STACKS_MS 15000 /* time for all PEs of a node together */

/* Returns the frames of each thread of a process, a line each, without what differs between equal stacks; or "!" and why there is none.
 * The caller frees it. Takes the time from *ms. */
char *stacks_of(pid_t pid, int *ms);

#endif
