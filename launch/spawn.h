/* Starts one PE by vfork and exec, with steps that posix_spawn has not; PEs that wait for a debugger (--debug) stop before
 * their first instruction, and a debugger attaches to each, in a pane of tmux or by hand. For the supervisor's one thread. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include "job.h"

/* Returns true when the status is that of an armed PE that has just executed its program. */
bool debug_arrived(int status);

/* Leaves the PE stopped and opens a pane with a debugger, or prints the line to type. */
void debug_offer(uint32_t pe, pid_t pid);

/* Starts a PE of the job, which dies when the caller does. Returns its pid, or -1 with errno of the step that has failed. */
pid_t spawn_pe(const struct job *job, uint32_t pe);

#endif
