/* Passive epochs: MPI_Win_lock, lock_all and their ends, flushes, and MPI_Win_sync.
 *
 * Each rank has one lock for readers and a writer, which is fair (uccs_lock). MPI_Win_lock_all enters at once, as a reader, those of its node
 * whose memory the program may use by load and store: in a job on one node all, else those that it has reached (MPI_Win_shared_query
 * reaches a rank). It enters them in the order of ranks, as all do: of two that each have a lock for which the other waits behind a writer, neither
 * would go on. Any other it enters with the first operation to that rank (window/peers.c, window/completion.h), so that it costs messages to the
 * ranks that are used alone. That one it enters as a guest, past writers in line: it holds other locks already, and such a writer may wait for
 * somebody who waits for those.
 *
 * Operations on this node are done when their calls return; those to other nodes may still read or write the program's
 * buffers until a flush. */
#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

/* The common case of MPI_Win_lock and unlock: a window without duplicates, no other epoch, a rank of this node, and any
 * thread of the program's may call the MPI in waits. */
static inline bool is_plain(const struct lmpi_window *window, int rank)
{
    return __builtin_expect(window && !window->has_dups && !window->open && (unsigned)rank < (unsigned)window->ranks &&
                                __atomic_load_n(&window->peer[rank].control, __ATOMIC_ACQUIRE) &&
                                lmpi_process.any_calls,
                            1); /* release: window/peers.c */
}

static int lock_rank(struct lmpi_window *window, int type, int rank, int assert)
{
    const bool shared = type == MPI_LOCK_SHARED, unchecked = assert &MPI_MODE_NOCHECK;
    if (window->of_memhandle)
        return MPI_ERR_RMA_SYNC;
    if (!shared && type != MPI_LOCK_EXCLUSIVE)
        return MPI_ERR_LOCKTYPE;
    if (assert & ~MPI_MODE_NOCHECK)
        return MPI_ERR_ASSERT;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks)
        return MPI_ERR_RANK;
    if (window->target[rank].open || window->open & LMPI_OPEN_LOCK_ALL)
        return MPI_ERR_RMA_SYNC;
    const struct lmpi_peer *peer = lmpi_peer(window, rank);
    window->open &= ~LMPI_OPEN_FENCE;
    if (!unchecked)
        lmpi_lock_enter(peer, shared ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
    window->target[rank].open =
        (shared ? LMPI_OPEN_SHARED : LMPI_OPEN_EXCLUSIVE) | (unchecked ? LMPI_OPEN_UNCHECKED : 0);
    lmpi_dups_open(window, rank);
    return MPI_SUCCESS;
}

static __attribute__((cold, noinline)) int lock_slow(int type, int rank, int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    return window ? lmpi_end(window, lock_rank(window, type, rank, assert), "MPI_Win_lock")
                  : lmpi_real.Win_lock(type, rank, assert, win);
}

LMPI_EXPORT int MPI_Win_lock(int type, int rank, int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    const bool shared = type == MPI_LOCK_SHARED;
    if (!is_plain(window, rank) || assert || window->target[rank].open || (!shared && type != MPI_LOCK_EXCLUSIVE))
        return lock_slow(type, rank, assert, win);
    const struct lmpi_peer *peer = &window->peer[rank];
    window->target[rank].open = shared ? LMPI_OPEN_SHARED : LMPI_OPEN_EXCLUSIVE;
    int status = uccs_lock_mapped(peer->endpoint, peer->control->lock, shared ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
    return __builtin_expect(status == UCCS_OK, 1) ? MPI_SUCCESS : MPI_ERR_OTHER; /* inside of a handler of uccs.h */
}
LMPI_NAME(Win_lock);

static int unlock_rank(struct lmpi_window *window, int rank)
{
    if (window->of_memhandle)
        return MPI_ERR_RMA_SYNC;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks)
        return MPI_ERR_RANK;
    const unsigned held = window->target[rank].open;
    if (!(held & LMPI_PASSIVE))
        return MPI_ERR_RMA_SYNC;
    const int status = lmpi_complete_stored(window, rank);
    window->target[rank].open = 0;
    lmpi_dups_open(window, rank);
    if (!(held & LMPI_OPEN_UNCHECKED))
        lmpi_lock_leave(&window->peer[rank], held & LMPI_OPEN_SHARED ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
    return status;
}

static __attribute__((cold, noinline)) int unlock_slow(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    return window ? lmpi_end(window, unlock_rank(window, rank), "MPI_Win_unlock") : lmpi_real.Win_unlock(rank, win);
}

LMPI_EXPORT int MPI_Win_unlock(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!is_plain(window, rank))
        return unlock_slow(rank, win);
    struct lmpi_target *target = &window->target[rank];
    const unsigned held = target->open;
    if (__builtin_expect((held != LMPI_OPEN_EXCLUSIVE && held != LMPI_OPEN_SHARED) || target->far_ops, 0))
        return unlock_slow(rank, win);
    target->open = 0;
    return uccs_unlock_mapped(window->peer[rank].endpoint, window->peer[rank].control->lock,
                              held == LMPI_OPEN_SHARED ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
}
LMPI_NAME(Win_unlock);
_Static_assert(UCCS_OK == MPI_SUCCESS, "an end of a lock that goes well returns either");

static int lock_all(struct lmpi_window *window, int assert)
{
    const bool unchecked = assert &MPI_MODE_NOCHECK;
    if (assert & ~MPI_MODE_NOCHECK)
        return MPI_ERR_ASSERT;
    if (window->of_memhandle || lmpi_window_is_accessing(window))
        return MPI_ERR_RMA_SYNC;
    for (int i = 0; i < window->ranks && lmpi_process.one_node; i++)
        (void)lmpi_target(window, i);
    for (int i = window->near_first; i < window->near_end && !unchecked; i++)
        if (window->peer[i].control)
            lmpi_lock_enter(&window->peer[i], UCCS_LOCK_SHARED);
    window->open = LMPI_OPEN_LOCK_ALL | (unchecked ? LMPI_OPEN_UNCHECKED : 0);
    lmpi_dups_open(window, -1);
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_lock_all, lmpi_window_root, lock_all(window, assert), (assert, win), int assert, MPI_Win win);

static int unlock_all(struct lmpi_window *window)
{
    if (!(window->open & LMPI_OPEN_LOCK_ALL))
        return MPI_ERR_RMA_SYNC;
    const int status = lmpi_complete_threads(window, -1);
    const bool held = !(window->open & LMPI_OPEN_UNCHECKED);
    for (int i = lmpi_listed(window); i >= 0; i = lmpi_listed_after(window, i)) {
        const bool late = window->target[i].open & LMPI_OPEN_LATE;
        if (held && (late || window->peer[i].control))
            lmpi_lock_leave(&window->peer[i], late ? UCCS_LOCK_GUEST : UCCS_LOCK_SHARED);
        window->target[i].open = 0;
    }
    window->open = 0;
    lmpi_dups_open(window, -1);
    return status;
}
LMPI_TAKE(Win_unlock_all, lmpi_window_root, unlock_all(window), (win), MPI_Win win);

/* ---- flushes ---- */

/* Returns MPI_SUCCESS when a passive epoch is open to a rank, or to any rank (-1), or an error class. */
static inline int check_epoch(const struct lmpi_window *window, int rank)
{
    unsigned open = window->open;
    for (int i = rank < 0 ? lmpi_listed(window) : -1; i >= 0 && !(open & LMPI_PASSIVE);
         i = lmpi_listed_after(window, i))
        open |= window->target[i].open;
    if (rank >= 0)
        open |= window->target[rank].open;
    return open & LMPI_PASSIVE ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

/* At one target, or at all of them (-1). `local`: the program may use its buffers; else the operations are complete at their targets. */
static int flush(struct lmpi_window *window, int rank, bool local)
{
    const int status = check_epoch(window, rank);
    if (status != MPI_SUCCESS || !local)
        return status == MPI_SUCCESS ? lmpi_complete(window, rank) : status;
    lmpi_complete_local(window, rank);
    return MPI_SUCCESS;
}

static int flush_rank(struct lmpi_window *window, int rank, bool local)
{
    if (__builtin_expect((unsigned)rank >= (unsigned)window->ranks || (window->of_memhandle && rank != window->rank),
                         0))
        return rank == MPI_PROC_NULL ? MPI_SUCCESS : MPI_ERR_RANK;
    return flush(window, rank, local);
}

static __attribute__((noinline)) int flush_any(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    return window ? lmpi_end(window, flush_rank(window, rank, false), "MPI_Win_flush") : lmpi_real.Win_flush(rank, win);
}

/* Where all was stored by this process, the fence is all there is to do. So it is with duplicates of a window whose ranks are all on its node: none has
 * operations under way. The one target of a memory handle's window is the only one that is ever open. */
LMPI_EXPORT int MPI_Win_flush(int rank, MPI_Win win)
{
    const struct lmpi_window *window = lmpi_window_cached(win);
    if (__builtin_expect(!window || (unsigned)rank >= (unsigned)window->ranks ||
                             !((window->target[rank].open | window->open) & LMPI_PASSIVE) ||
                             window->target[rank].far_ops | (window->has_dups & window->has_remote),
                         0))
        return flush_any(rank, win);
    lmpi_fence_of_flush(window);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_flush);

LMPI_TAKE(Win_flush_all, lmpi_window, flush(window, -1, false), (win), MPI_Win win);
LMPI_TAKE(Win_flush_local, lmpi_window, flush_rank(window, rank, true), (rank, win), int rank, MPI_Win win);
LMPI_TAKE(Win_flush_local_all, lmpi_window, flush(window, -1, true), (win), MPI_Win win);

/* Programs that poll their memory call MPI_Win_sync in the loop, so it makes progress. */
static int sync_memory(void)
{
    lmpi_fence();
    uccs_progress();
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_sync, lmpi_window, sync_memory(), (win), MPI_Win win);
