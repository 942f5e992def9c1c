/* Errors go through the window's handler, which the shadow window holds. */
#include "window.h"

int lmpi_error(const struct lmpi_window *window, int class)
{
    MPI_Errhandler handler;
    if (PMPI_Win_get_errhandler(window->handle, &handler) == MPI_SUCCESS) {
        lmpi_life.aborting |= handler == MPI_ERRORS_ARE_FATAL;
        PMPI_Errhandler_free(&handler);
    }
    PMPI_Win_call_errhandler(window->handle, class);
    return class;
}
