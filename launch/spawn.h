/* Starts one PE the fast way, by vfork and exec, and does some steps that posix_spawn cannot do. */
#ifndef LAUNCH_SPAWN_H
#define LAUNCH_SPAWN_H

#include "cores.h"

#include <signal.h>
#include <sys/resource.h>
#include <stdbool.h>
#include <sys/types.h>

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
