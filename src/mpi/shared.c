/* MPI_Win_allocate_shared and MPI_Win_shared_query. */
#include "create.h"

#include "real.h"

#include <string.h>

LMPI_EXPORT int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_shared_query(win, rank, size, disp_unit, baseptr);
    if (window->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    if (rank == MPI_PROC_NULL) /* the lowest rank that has memory */
        for (rank = 0; rank < window->ranks - 1 && !(window->target[rank].bytes && window->target[rank].near);)
            rank++;
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error(window, MPI_ERR_RANK);
    const struct lmpi_target *target = &window->target[rank];
    const char *near = target->near; /* null: not shared with this process (MPI 4.1) */
    *size = near || window->flavor == MPI_WIN_FLAVOR_SHARED ? (MPI_Aint)target->bytes : 0;
    *disp_unit = (int)target->unit;
    memcpy(baseptr, &near, sizeof near);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_shared_query);
