/* Errors go through the window's handler, which the handle window holds. */
#include "mpi/core/process.h"
#include "mpi/window/window.h"

/* The MPI's own message would name MPI_Win_call_errhandler alone. */
static void log_fatal(const struct lmpi_window *window, int class, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "", name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Error_string(class, text, &length);
    PMPI_Win_get_name(window->handle, name, &length);
    if (*name)
        lmpi_log("%s on window '%s': %s", call, name, text);
    else
        lmpi_log("%s on window %d, in the order of their creation: %s", call, window->number, text);
}

static bool is_fatal(MPI_Errhandler handler)
{
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRORS_ARE_FATAL;
}

int lmpi_error_of(const struct lmpi_window *window, int class, const char *call)
{
    MPI_Errhandler handler;
    if (PMPI_Win_get_errhandler(window->handle, &handler) == MPI_SUCCESS) {
        if (is_fatal(handler)) {
            lmpi_process.aborting = true;
            log_fatal(window, class, call);
        }
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
        if (lmpi_process.checked)
            lmpi_log("LATERAL_CHECK: an operation uses memory that its owner has released");
        return MPI_ERR_RMA_ATTACH;
    }
    return MPI_ERR_OTHER;
}
