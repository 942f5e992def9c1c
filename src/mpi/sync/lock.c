/* MPI_Win_lock, lock_all and their ends.
 *
 * Each rank has one lock for readers and a writer, which is fair (uccs_lock). MPI_Win_lock_all enters those of its node at
 * once as a reader, because the program may use their memory by load and store; one of another node it enters with the first
 * operation to that rank (window/completion.h), so that it costs messages to the ranks that are used alone. That one it enters as a guest,
 * past writers in line: it holds the locks of its node already, and such a writer may wait for somebody who waits for
 * those. */
#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/window/completion.h"
#include "mpi/window/dup.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

/* Enters the locks of this node. */
static void enter_all(struct lmpi_window *window)
{
    for (int i = 0; i < window->ranks; i++)
        if (window->peer[i].control)
            lmpi_lock_enter(&window->peer[i], UCCS_LOCK_SHARED);
}

static void leave_all(struct lmpi_window *window)
{
    for (int i = 0; i < window->ranks; i++)
        if (window->peer[i].control)
            lmpi_lock_leave(&window->peer[i], UCCS_LOCK_SHARED);
        else if (window->target[i].open & LMPI_OPEN_LATE)
            lmpi_lock_leave(&window->peer[i], UCCS_LOCK_GUEST);
}

/* The common case of MPI_Win_lock and unlock: a window without duplicates, no other epoch, a rank of this node, and any
 * thread of the program's may call the MPI in waits. */
static inline bool is_plain(const struct lmpi_window *window, int rank)
{
    return __builtin_expect(window && !window->has_dups && !window->open && (unsigned)rank < (unsigned)window->ranks &&
                                window->peer[rank].control && lmpi_process.any_calls,
                            1);
}

static __attribute__((cold, noinline)) int lock_slow(int type, int rank, int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    if (!window)
        return lmpi_real.Win_lock(type, rank, assert, win);
    if (window->of_memhandle)
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, "MPI_Win_lock");
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
        return lmpi_error_of(window, MPI_ERR_LOCKTYPE, "MPI_Win_lock");
    if (assert & ~MPI_MODE_NOCHECK)
        return lmpi_error_of(window, MPI_ERR_ASSERT, "MPI_Win_lock");
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error_of(window, MPI_ERR_RANK, "MPI_Win_lock");
    if (window->target[rank].open || window->open & LMPI_OPEN_LOCK_ALL)
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, "MPI_Win_lock");
    window->open &= ~LMPI_OPEN_FENCE;
    if (!(assert &MPI_MODE_NOCHECK))
        lmpi_lock_enter(&window->peer[rank], type == MPI_LOCK_SHARED ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
    window->target[rank].open = (type == MPI_LOCK_SHARED ? LMPI_OPEN_SHARED : LMPI_OPEN_EXCLUSIVE) |
                                (assert &MPI_MODE_NOCHECK ? LMPI_OPEN_UNCHECKED : 0);
    lmpi_dups_open(window, rank);
    return MPI_SUCCESS;
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

static __attribute__((cold, noinline)) int unlock_slow(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    if (!window)
        return lmpi_real.Win_unlock(rank, win);
    if (window->of_memhandle)
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, "MPI_Win_unlock");
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error_of(window, MPI_ERR_RANK, "MPI_Win_unlock");
    unsigned held = window->target[rank].open;
    if (!(held & LMPI_PASSIVE))
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, "MPI_Win_unlock");
    int status = lmpi_complete_stored(window, rank);
    window->target[rank].open = 0;
    lmpi_dups_open(window, rank);
    if (!(held & LMPI_OPEN_UNCHECKED))
        lmpi_lock_leave(&window->peer[rank], held & LMPI_OPEN_SHARED ? UCCS_LOCK_SHARED : UCCS_LOCK_EXCLUSIVE);
    return status == MPI_SUCCESS ? status : lmpi_error_of(window, status, "MPI_Win_unlock");
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

LMPI_EXPORT int MPI_Win_lock_all(int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    if (!window)
        return lmpi_real.Win_lock_all(assert, win);
    if (assert & ~MPI_MODE_NOCHECK)
        return lmpi_error(window, MPI_ERR_ASSERT);
    if (window->of_memhandle || lmpi_window_is_accessing(window))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (!(assert &MPI_MODE_NOCHECK))
        enter_all(window);
    window->open = LMPI_OPEN_LOCK_ALL | (assert &MPI_MODE_NOCHECK ? LMPI_OPEN_UNCHECKED : 0);
    lmpi_dups_open(window, -1);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_lock_all);

LMPI_EXPORT int MPI_Win_unlock_all(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    if (!window)
        return lmpi_real.Win_unlock_all(win);
    if (!(window->open & LMPI_OPEN_LOCK_ALL))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    int status = lmpi_complete_threads(window, -1);
    if (!(window->open & LMPI_OPEN_UNCHECKED))
        leave_all(window);
    window->open = 0;
    for (int i = 0; i < window->ranks; i++)
        window->target[i].open = 0;
    lmpi_dups_open(window, -1);
    return status == MPI_SUCCESS ? status : lmpi_error(window, status);
}
LMPI_NAME(Win_unlock_all);
