/* Starts one PE by vfork and exec, with steps that posix_spawn has not; PEs that wait for a debugger (--debug) stop before
 * their first instruction, and a debugger attaches to each, in a pane of tmux or by hand. For the supervisor's one thread. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include "cores.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* In the child, before it executes the program: the supervisor will see it stop. */
void debug_arm(void);

/* Returns true when the status is that of an armed PE that has just executed its program. */
bool debug_arrived(int status);

/* Leaves the PE stopped and opens a pane with a debugger, or prints the line to type. */
void debug_offer(uint32_t pe, pid_t pid);

struct spawn {
    const char *path, *wdir; /* wdir may be NULL */
    char *const *argv;
    char *const *envp;
    int in, out, err;           /* become 0, 1, 2 */
    int segment;                /* inherited under the same number */
    int parent_pipe;            /* the same; -1: none */
    const struct cpus *cpus;    /* NULL: not bound */
    const sigset_t *signals;    /* the mask that oshrun was started with */
    const struct rlimit *files; /* the limit that oshrun was started with */
    bool debug;                 /* stops at its first instruction; debug.h */
    const char *score;          /* what goes into oom_score_adj */
};

/* Returns the child's pid, or -1 with errno from the failing step. The child is killed when the caller dies. */
pid_t spawn(const struct spawn *spawn);

#endif
