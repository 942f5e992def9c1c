/* MPI_Win_fence and MPI_Win_sync. */
#include "mpi/core/real.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/dup.h"
#include "mpi/window/window.h"

#define ASSERTS (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)

LMPI_EXPORT int MPI_Win_fence(int assert, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window_root(win);
    if (!window)
        return lmpi_real.Win_fence(assert, win);
    if (assert & ~ASSERTS)
        return lmpi_error(window, MPI_ERR_ASSERT);
    if (window->of_memhandle || lmpi_window_has_epoch(window))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    int status = lmpi_complete_stored(window, -1); /* the barrier begins with a fence */
    lmpi_barrier(window);
    window->open = assert &MPI_MODE_NOSUCCEED ? 0 : LMPI_OPEN_FENCE;
    lmpi_dups_open(window, -1);
    return status == MPI_SUCCESS ? status : lmpi_error(window, status);
}
LMPI_NAME(Win_fence);

LMPI_EXPORT int MPI_Win_sync(MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_sync(win);
    lmpi_fence();
    uccs_progress(); /* programs that poll their memory call this in the loop */
    return MPI_SUCCESS;
}
LMPI_NAME(Win_sync);
