/* fork gives a child of a PE memory of its own.
 *
 * Symmetric memory is shared pages, so a plain fork would let the child write into the job. With the guard, a forked
 * child finds private copies of its parent's globals, heap and region, as after any fork. The peers' regions stay shared,
 * since parts of a shared window of MPI may lie there; the rest of the peers' memory is not mapped. fork returns in the
 * parent once the child has its copies, so the child does not see the parent's later stores. A store that a peer makes
 * meanwhile may be in the copy only in part. fork copies each page that was ever touched; vfork, posix_spawn, system and
 * popen share the parent's memory until exec and copy nothing. fork runs handlers of pthread_atfork; _Fork, which runs
 * none, is defined by the shared library (fork_bare.c). A child made by a bare clone(2), or by _Fork in a program that
 * holds liblateral.a, gets no copies.
 *
 * One thread calls uccs_fork_guard, in init or finalize, while no thread forks. The handlers run in the thread that
 * forks; any number of threads may fork at once. */
#ifndef UCCS_CORE_FORK_H
#define UCCS_CORE_FORK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UCCS_FORK_OWN 3

/* Whole pages that map the file, from offset `at` on, shared and writable. */
struct uccs_fork_range {
    void *start; /* null: the range does not exist */
    size_t bytes;
    off_t at;
    int fd; /* a file of the range's own; 0: the file of the ranges */
    dev_t device;
    ino_t file; /* uccs_fork_guard finds both */
};

struct uccs_fork_ranges {
    int fd;                                    /* the file under `own`; the program may close it */
    struct uccs_fork_range own[UCCS_FORK_OWN]; /* heap, globals, region; a child gets private copies */
    void *shared; /* the map of the node up to the regions; a child keeps only `own` of it */
    size_t shared_bytes;
};

/* One fork that is under way. */
struct uccs_fork_call {
    int notice[2];   /* pipe from the child; -1: none */
    bool blocked;    /* signals are */
    sigset_t before; /* the mask of the thread */
};

/* Before and after a fork, in the thread that forks: any thread, also in a handler of a signal. A fork that failed has a
 * parent alone. errno stays. */
void uccs_fork_prepare(struct uccs_fork_call *call);
void uccs_fork_in_parent(struct uccs_fork_call *call);
void uccs_fork_in_child(struct uccs_fork_call *call);

/* Null, or what a child calls once it has its copies; set before the first fork that matters, and safe in a handler of a signal. */
extern void (*uccs_fork_become_child)(void);

/* Replaces the guarded ranges; null guards none any more. Returns 0 or an errno value. */
int uccs_fork_guard(const struct uccs_fork_ranges *ranges);

#endif
