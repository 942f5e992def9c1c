/* The flush family. Operations on this node are done when their calls return; those to other nodes may still read or
 * write the program's buffers. */
#include "mpi/core/real.h"
#include "mpi/window/completion.h"
#include "mpi/window/window.h"

/* The window's rank is in a passive epoch, or an error class. */
static inline int check_epoch(const struct lmpi_window *window, int rank)
{
    if (__builtin_expect((unsigned)rank >= (unsigned)window->ranks, 0))
        return rank == MPI_PROC_NULL ? MPI_SUCCESS : MPI_ERR_RANK;
    if (__builtin_expect(window->of_memhandle && rank != window->rank, 0))
        return MPI_ERR_RANK;
    return (window->target[rank].open | window->open) & LMPI_PASSIVE ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

static int check_any_epoch(const struct lmpi_window *window)
{
    bool open = window->open & LMPI_OPEN_LOCK_ALL;
    for (int i = 0; i < window->ranks && !open; i++)
        open = window->target[i].open & LMPI_PASSIVE;
    return open ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

static __attribute__((noinline)) int flush_any(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_flush(rank, win);
    int status = check_epoch(window, rank);
    if (status == MPI_SUCCESS && rank >= 0)
        status = lmpi_complete_at(window, rank);
    return status == MPI_SUCCESS ? status : lmpi_error_of(window, status, "MPI_Win_flush");
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

LMPI_EXPORT int MPI_Win_flush_all(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_flush_all(win);
    int status = check_any_epoch(window);
    if (status == MPI_SUCCESS)
        status = lmpi_complete_all(window);
    return status == MPI_SUCCESS ? status : lmpi_error(window, status);
}
LMPI_NAME(Win_flush_all);

LMPI_EXPORT int MPI_Win_flush_local(int rank, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_flush_local(rank, win);
    int status = check_epoch(window, rank);
    if (status == MPI_SUCCESS && rank >= 0)
        lmpi_complete_local(window, rank);
    return status == MPI_SUCCESS ? status : lmpi_error(window, status);
}
LMPI_NAME(Win_flush_local);

LMPI_EXPORT int MPI_Win_flush_local_all(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_flush_local_all(win);
    int status = check_any_epoch(window);
    if (status == MPI_SUCCESS)
        lmpi_complete_local(window, -1);
    return status == MPI_SUCCESS ? status : lmpi_error(window, status);
}
LMPI_NAME(Win_flush_local_all);
