/* fork: a child of a PE gets memory of its own.
 *
 * Symmetric memory is shared pages, and a plain fork would let the child write into the job. With the
 * guard, a forked child finds private copies of its parent's globals and heap, as after any fork, and the
 * peers' memory is not mapped there. fork returns in the parent once the child has its copies, so
 * the parent's later stores do not show in the child. What peers store meanwhile may be half in the copy.
 * Cost: one copy of each page ever touched; none for vfork, posix_spawn, system and popen, which share
 * the parent's memory until exec. A child made by _Fork or a bare clone(2) gets no copies.
 *
 * uccs_fork_guard: one thread, in init or finalize, not beside a fork. The handlers run in whichever
 * thread forks; any number may at once. */
#ifndef UCCS_CORE_FORK_H
#define UCCS_CORE_FORK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UCCS_FORK_OWN 2

/* Whole pages that map the file from `at` on, shared and writable. */
struct uccs_fork_range {
    void *start; /* null: no such range */
    size_t bytes;
    off_t at;
};

struct uccs_fork_ranges {
    int fd;                                    /* the file under `own`; stays open as long as the guard */
    struct uccs_fork_range own[UCCS_FORK_OWN]; /* heap slice and globals: private copies in a child */
    void *shared;                              /* the map of the whole node: gone in a child but for `own` */
    size_t shared_bytes;
};

/* Takes the place of earlier ranges; null: no ranges any more. 0 or an errno value. */
int uccs_fork_guard(const struct uccs_fork_ranges *ranges);

/* True in a child of the process that called uccs_fork_guard, however it was made. Such a process is no PE:
 * its exit must not finalize the job. */
bool uccs_fork_is_child(void);

#endif
