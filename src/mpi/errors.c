/* Errors go through the window's handler, which the shadow window holds. */
#include "verbose.h"
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

int lmpi_class_of(int status)
{
    switch (status) {
    case UCCS_OK: return MPI_SUCCESS;
    case UCCS_ERR_BOUNDS:
    case UCCS_ERR_FAILED: return MPI_ERR_RMA_RANGE; /* a target has refused it */
    case UCCS_ERR_NO_MEMORY: return MPI_ERR_NO_MEM;
    case UCCS_ERR_INVALID: return MPI_ERR_OP;
    case UCCS_ERR_STALE:
        if (lmpi_life.checked)
            lmpi_say("LATERAL_CHECK: an operation uses memory that its owner has released");
        return MPI_ERR_RMA_ATTACH;
    }
    return MPI_ERR_OTHER;
}
