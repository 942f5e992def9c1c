/* A window of ours, and how calls find it.
 *
 * The program holds the handle of another, the handle window: a tiny window of the MPI's own on this process alone. So handles in Fortran,
 * names, attributes, error handlers and MPI_WIN_NULL are the MPI's business. This library keeps what is ours by that
 * handle.
 *
 * A window has a row for each rank, in memory that takes pages when they are touched; peers.c fills the row when this process first needs the
 * rank. So a window costs what it uses, and to make one takes no list of ranks.
 *
 * Threads: window objects do not change while operations run, but for `open` and `far_ops`, which only calls of
 * synchronisation and operations of the program's own order write, and for rows that are filled. */
#ifndef MPI_WINDOW_WINDOW_H
#define MPI_WINDOW_WINDOW_H

#include "mpi/core/real.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uccs.h>

/* What is open to a target, and how. */
enum {
    LMPI_OPEN_SHARED = 1,    /* MPI_Win_lock */
    LMPI_OPEN_EXCLUSIVE = 2, /* MPI_Win_lock */
    LMPI_OPEN_STARTED = 4,   /* MPI_Win_start */
    LMPI_OPEN_UNCHECKED = 8, /* with MPI_MODE_NOCHECK: nothing is to be given back */
    LMPI_OPEN_FENCE = 16,    /* of all targets: MPI_Win_fence */
    LMPI_OPEN_LOCK_ALL = 32, /* of all targets: MPI_Win_lock_all */
    LMPI_OPEN_LATE = 64      /* first used under MPI_Win_lock_all: its lock is entered */
};
enum { LMPI_PASSIVE = LMPI_OPEN_SHARED | LMPI_OPEN_EXCLUSIVE | LMPI_OPEN_LOCK_ALL };

enum {
    LMPI_FAR_SOME = 1,
    LMPI_FAR_ANSWERED = 2 /* the last one has an answer that may tell that all are complete */
};

struct lmpi_target { /* one cache line */
    char *near;      /* its memory as this process maps it, or null */
    size_t bytes;    /* 0 before the row is filled, so that operations find it out of range; release: peers.c */
    uint32_t unit;   /* of displacements */
    uint8_t open;
    uint8_t far_ops; /* operations that a flush must wait for may be under way: LMPI_FAR_... */
    uint8_t direct;  /* the processor's atomics on `near` are in one domain with the substrate's accumulates */
    uint8_t ranged;  /* `memory` is dynamic: views tell where its ranges lie */
    uccs_memory_t memory;
    size_t offset; /* of the window's memory in it */
    uccs_endpoint_t endpoint;
    char *base;      /* address of the window's memory in its owner */
    uint8_t local;   /* on this node: operations are complete when they return */
    uint8_t reached; /* the row is filled; release: peers.c */
    uint8_t listed;
    uint32_t next; /* 1 + the next rank of the window's list; 0: none */
};
_Static_assert(sizeof(struct lmpi_target) == 64, "a target is one cache line");

struct lmpi_control; /* words by which the ranks of a window meet: window/control.h */

/* Words of a rank that others change. */
struct lmpi_words {
    uint64_t *near; /* as this process maps them, or null */
    uccs_memory_t memory;
};

struct lmpi_peer {
    struct lmpi_control *control; /* as this process maps it, or null */
    uccs_memory_t memory;         /* that holds the control at offset `at`; of all windows */
    size_t at;
    struct lmpi_words posts, notices; /* reached at first use */
    uccs_endpoint_t endpoint;
    uint64_t posts_taken; /* of its MPI_Win_post calls, those that our MPI_Win_start calls have used */
    uint64_t posts_made;  /* of ours to it */
    int world;            /* rank in MPI_COMM_WORLD */
    uint32_t ids;         /* of its notifications, from 0 */
};

/* A group of MPI_Win_post or MPI_Win_start as ranks of the window. A window keeps the last one of each call: programs pass the same groups
 * again and again, and a translation costs more than the call. */
struct lmpi_ranks {
    MPI_Group group;
    uint64_t age; /* of sync/pscw.c; 0: nothing is kept */
    int n;
    int *rank;
};

struct lmpi_window {
    struct lmpi_target *target;
    struct lmpi_window *holder; /* whose targets these are: this window, or of a duplicate the parent */
    uint32_t
        listed; /* 1 + the first rank of the list of those that may be open or have operations under way; 0: none */
    int ranks, rank;
    int near_first, near_end; /* the ranks of this node that have been reached are among these */
    int shift;                /* ranks in the world are those of the window and this; LMPI_SCATTERED: they are not */
    uint8_t open;             /* LMPI_OPEN_FENCE, LMPI_OPEN_LOCK_ALL */
    uint8_t kind;             /* LMPI_THREAD, LMPI_ORDERED */
    uint8_t has_dups;         /* it has duplicates or windows of memory handles, or is one */
    uint8_t of_memhandle;     /* of a memory handle: it has one target, and no locks and epochs of its own */
    uint8_t promised;         /* LATERAL_CHECK: accumulates are to be intrinsic */
    uint8_t marked;           /* the program has named it or given it attributes */
    uint8_t reserved;         /* there is room for it in this rank's table */
    uint8_t has_remote;       /* a rank on another node has been reached */
    int flavor;               /* MPI_WIN_FLAVOR_... */
    int model;
    int unit; /* the attributes of this process */
    MPI_Aint bytes;
    void *base;
    MPI_Win handle;
    struct lmpi_peer *peer;
    uccs_memory_t own;     /* memory that this process has given to the window, or null */
    uccs_memory_t posts;   /* counts of each rank's posts to this one, zero between two windows that use the object */
    uccs_memory_t notices; /* words of this rank's notifications, or null */
    uint32_t slot;         /* 1 + that of the window's control in this rank's table; 0: none */
    struct lmpi_block *own_block;              /* of an allocated window: whose memory this is; else null */
    unsigned attached_empty;                   /* of a dynamic window: ranges without bytes; atomic, relaxed */
    bool of_first;                             /* all bytes lie in the memory of rank 0 */
    uint64_t round;                            /* of barriers */
    uint64_t completes;                        /* that MPI_Win_wait calls have taken */
    MPI_Group group;                           /* of the window */
    bool started;                              /* an MPI_Win_start is open, to `start_ranks` */
    struct lmpi_ranks start_ranks, post_ranks; /* of the last calls */
    int exposed;                               /* ranks of the open MPI_Win_post, or -1 */
    int number;                                /* for LATERAL_MPI=verbose */
    MPI_Info info;                             /* hints that the program gave */
    struct lmpi_window *next;
    uint64_t key[2];                /* of its memory handles: the same at all ranks, known to nobody else */
    struct lmpi_window *parent;     /* whose locks and epochs hold here; null: it has its own */
    struct lmpi_window *children;   /* duplicates and windows of memory handles */
    struct lmpi_window *sibling;    /* the parent's next child */
    uint64_t *counted;              /* of a window of a memory handle: the owner's word that counts it, or null */
    struct lmpi_target *targets;    /* that this window has for itself */
    int capacity;                   /* in `targets` */
    const struct uccs_op *op;       /* of its operations to other nodes, or null */
    struct lmpi_refusals *refusals; /* completion.c: a window with dynamic memory on other nodes; null: other windows */
    unsigned kinds;                 /* of its and its children's operations to other nodes, a bit for each; atomic or */
};

#define LMPI_SCATTERED INT_MIN

/* Go through the ranks that may be open or have operations under way; -1: no more. Others may be added meanwhile. */
static inline int lmpi_listed(const struct lmpi_window *window)
{
    return (int)__atomic_load_n(&window->holder->listed, __ATOMIC_ACQUIRE) - 1; /* release: lmpi_target_list */
}
static inline int lmpi_listed_after(const struct lmpi_window *window, int rank)
{
    return (int)window->target[rank].next - 1;
}

/* Return whether an epoch is open that is none of MPI_Win_fence: by MPI_Win_start or a lock; or by MPI_Win_post too. */
static inline bool lmpi_window_is_accessing(const struct lmpi_window *window)
{
    bool open = (window->open & LMPI_OPEN_LOCK_ALL) || window->started;
    for (int i = lmpi_listed(window); i >= 0 && !open; i = lmpi_listed_after(window, i))
        open = window->target[i].open != 0;
    return open;
}
static inline bool lmpi_window_has_epoch(const struct lmpi_window *window)
{
    return window->exposed >= 0 || lmpi_window_is_accessing(window);
}

/* How a window's operations travel (window/completion.h). */
enum {
    LMPI_THREAD = 1, /* a flush concerns the calling thread's operations alone */
    LMPI_ORDERED = 2 /* operations to one target complete in the order of their issue */
};

/* lmpi_window by the table. */
struct lmpi_window *lmpi_window_slow(MPI_Win handle);

/* Each thread caches the last windows that it found. The cache is empty once a window has been added or removed. */
struct lmpi_last_windows {
    uint64_t age;
    struct {
        MPI_Win handle;
        struct lmpi_window *window;
    } slot[4];
};
extern _Thread_local struct lmpi_last_windows lmpi_last_windows;
extern uint64_t lmpi_windows_age; /* release: a window comes or goes */

static inline unsigned lmpi_window_slot(MPI_Win handle)
{
    return (unsigned)((uintptr_t)handle >> 4 ^ (uintptr_t)handle) & 3;
}

static inline bool lmpi_window_is_cached(MPI_Win handle)
{
    return __builtin_expect(lmpi_last_windows.age == __atomic_load_n(&lmpi_windows_age, __ATOMIC_ACQUIRE) &&
                                lmpi_last_windows.slot[lmpi_window_slot(handle)].handle == handle,
                            1); /* partner: lmpi_window_add, lmpi_window_remove */
}

/* Returns the window from this thread's cache; null: not ours, or not in the cache. */
static inline struct lmpi_window *lmpi_window_cached(MPI_Win handle)
{
    return lmpi_window_is_cached(handle) ? lmpi_last_windows.slot[lmpi_window_slot(handle)].window : 0;
}

/* Returns the window of ours behind a handle, or null. Any thread. */
static inline struct lmpi_window *lmpi_window(MPI_Win handle)
{
    return lmpi_window_is_cached(handle) ? lmpi_last_windows.slot[lmpi_window_slot(handle)].window
                                         : lmpi_window_slow(handle);
}

/* The program gives a window a name or an attribute, so its handle window is not used again. */
static inline void lmpi_window_mark(MPI_Win handle)
{
    struct lmpi_window *window = lmpi_window(handle);
    if (window)
        window->marked = true;
}

/* Add a window to the table and remove it. Between the end of a handle window and lmpi_window_remove the MPI may give the handle to
 * another thread's window; lmpi_window then finds the one that was added last. Any thread. */
void lmpi_window_add(struct lmpi_window *window);
void lmpi_window_remove(struct lmpi_window *window);

/* Returns a window of which `handle`, `posts`, `targets` and `capacity` count alone, or null without memory. The handle is MPI_WIN_NULL, after a
 * line under LATERAL_MPI=verbose, when the MPI makes none. Any thread. */
struct lmpi_window *lmpi_window_new(void);
/* Ends the program's handle and takes the window out of the table. Returns a code of the MPI: a delete callback may refuse. */
int lmpi_window_end(struct lmpi_window *window, MPI_Win *handle);
/* Frees a window, or keeps it for lmpi_window_new; its targets are zero. */
void lmpi_window_drop(struct lmpi_window *window);
/* Frees the windows that are kept. */
void lmpi_windows_end(void);

/* errors.c: calls the window's error handler with an error class, behind a line with the call and the window where the handler ends
 * the job. Returns what the caller is to return. Within an MPI function lmpi_error knows its name. */
int lmpi_error_of(const struct lmpi_window *window, int class, const char *call) __attribute__((cold, noinline));
#define lmpi_error(window, class) lmpi_error_of(window, class, __func__)
/* Returns what a call of the program returns for an error class, MPI_SUCCESS among them. */
static inline int lmpi_end(const struct lmpi_window *window, int class, const char *call)
{
    return class == MPI_SUCCESS ? class : lmpi_error_of(window, class, call);
}

/* Defines a function that the layer takes over, with its parameters at the end: `find` looks for the window, `ours` does the work and
 * returns an error class; for a window of the MPI the MPI's own function gets the arguments. */
#define LMPI_TAKE(name, find, ours, arguments, ...)                                      \
    LMPI_EXPORT int MPI_##name(__VA_ARGS__)                                              \
    {                                                                                    \
        struct lmpi_window *window = find(win);                                          \
        return window ? lmpi_end(window, ours, "MPI_" #name) : lmpi_real.name arguments; \
    }                                                                                    \
    LMPI_NAME(name)

/* Defines a function of mpix_rma.h, for windows of the layer only. */
#define LMPI_OURS(name, ours, ...)                                           \
    int MPIX_##name(__VA_ARGS__)                                             \
    {                                                                        \
        struct lmpi_window *window = lmpi_window(win);                       \
        return window ? lmpi_end(window, ours, "MPIX_" #name) : MPI_ERR_WIN; \
    }                                                                        \
    extern __typeof__(MPIX_##name) MPIX_##name
/* Ends a call with an error by the error handler of a communicator. */
int lmpi_comm_error(MPI_Comm comm, int class, const char *call) __attribute__((cold, noinline));

/* Prints a line of lmpi_log that ends with the program's source line. Starts a process. */
void lmpi_log_mistake(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Returns the error class for a status of the substrate. */
int lmpi_class_of(int status);

/* Where ranges of dynamic memory lie in this process, for windows whose memory comes and goes, or consists of parts. The
 * owner's table changes when it attaches or detaches memory; a thread keeps what it found until then. Any thread. */
struct lmpi_view {
    const struct lmpi_target *target;
    uint64_t age; /* of the windows: the target exists */
    struct uccs_view seen;
};

#define LMPI_VIEWS 16 /* a power of two */
extern _Thread_local struct lmpi_view lmpi_views[LMPI_VIEWS];

/* Asks the substrate. Returns null when no range holds the offset. */
const struct lmpi_view *lmpi_view_slow(const struct lmpi_target *target, size_t offset);

/* Returns what holds [at, at + bytes) of a target as this process maps it, or null. Sets *direct: the processor's atomics
 * are in one domain with the substrate's accumulates. `at` counts from the window's start. */
static inline char *lmpi_view(const struct lmpi_target *target, size_t at, size_t bytes, bool *direct)
{
    const size_t offset = target->offset + at;
    const struct lmpi_view *view = &lmpi_views[((uintptr_t)target / sizeof *target ^ offset >> 16) & (LMPI_VIEWS - 1)];
    if (__builtin_expect(view->target != target || view->age != __atomic_load_n(&lmpi_windows_age, __ATOMIC_ACQUIRE) ||
                             __atomic_load_n(view->seen.version, __ATOMIC_ACQUIRE) != view->seen.seen ||
                             offset - view->seen.start >= view->seen.length,
                         0)) { /* release: lmpi_window_add, _remove; the owner's attach and detach */
        view = lmpi_view_slow(target, offset);
        if (!view)
            return 0;
    }
    const size_t inside = offset - view->seen.start;
    *direct = view->seen.domain == UCCS_DOMAIN_CPU;
    return view->seen.address && bytes <= view->seen.length - inside ? view->seen.address + inside : 0;
}

/* ---- info.c: what the program's hints ask for ---- */

#define LMPI_NOTIFY_IDS "mpi_win_notify_ids"

/* Returns the kind of window that hints ask for; without such a hint, `kind`. */
unsigned lmpi_info_kind(MPI_Info info, unsigned kind);

/* Returns whether the hints promise intrinsic accumulates and LATERAL_CHECK is set; without the hint, `before`. */
bool lmpi_info_promises(MPI_Info info, bool before);

/* Copies the hints that the layer knows, with values that it knows. */
void lmpi_info_merge(MPI_Info into, MPI_Info from);

/* Returns the number of notifications that a new window has at this rank. */
int lmpi_info_ids(MPI_Info info);

/* ---- dup.c: children of a window, its duplicates and its windows of memory handles. The parent's locks and epochs hold for the children;
 * each has a configuration of its own. In a job on one node duplicates share the parent's targets.
 *
 * Any thread makes and frees children; locks and epochs change on one thread at a time, as MPI demands. ---- */

/* Returns the window to whose ranks a window leads: of a child its parent. */
static inline struct lmpi_window *lmpi_window_first(const struct lmpi_window *window)
{
    return window->parent ? window->parent : (struct lmpi_window *)window;
}

/* Returns the window whose locks and epochs hold: of a duplicate its parent. Null: not ours. */
static inline struct lmpi_window *lmpi_window_root(MPI_Win handle)
{
    struct lmpi_window *window = lmpi_window(handle);
    return window && window->parent && !window->of_memhandle ? window->parent : window;
}

/* Copies what is open at a rank, or at all ranks (-1), from a window to its children. */
void lmpi_dups_open_slow(struct lmpi_window *window, int rank);
static inline void lmpi_dups_open(struct lmpi_window *window, int rank)
{
    if (__builtin_expect(window->children != 0, 0))
        lmpi_dups_open_slow(window, rank);
}

/* Sets the kind of a window (LMPI_THREAD, LMPI_ORDERED). Without memory for its endpoints the window keeps its kind. */
void lmpi_window_set_kind(struct lmpi_window *window, unsigned kind);

/* Returns a child with a handle and `targets` that are zero, the parent's configuration and error handler, and the hints
 * of `info`; or null without memory. lmpi_child_join lets the program's calls find it. */
struct lmpi_window *lmpi_child_new(struct lmpi_window *parent, MPI_Info info);
void lmpi_child_join(struct lmpi_window *child);
/* Frees a child that has not joined. */
void lmpi_child_drop(struct lmpi_window *child);
/* Completes the child's operations, frees it, and sets its handle to MPI_WIN_NULL. Returns a code of the MPI. */
int lmpi_child_free(struct lmpi_window *child, MPI_Win *handle);

#endif
