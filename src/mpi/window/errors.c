/* Errors go through the window's handler, which the handle window holds. */
#include "base/where.h"
#include "mpi/core/process.h"
#include "mpi/window/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lmpi_log_mistake(const char *format, ...)
{
    char text[2 * MPI_MAX_ERROR_STRING], place[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const bool tell = where_called(place, sizeof place);
    lmpi_log("%s%s%s", text, tell ? "; called at " : "", tell ? place : "");
}

/* The MPI's own message would name the call of the error handler alone. */
static void log_fatal(const char *call, const char *kind, const char *name, int class)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(class, text, &length);
    lmpi_process.aborting = true;
    lmpi_log_mistake("%s on %s %s: %s", call, kind, name, text);
}

static bool is_fatal(MPI_Errhandler handler)
{
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRORS_ARE_FATAL;
}

static void log_window(const struct lmpi_window *window, int class, const char *call)
{
    char name[MPI_MAX_OBJECT_NAME + 3] = "'";
    int length = 0;
    PMPI_Win_get_name(window->handle, name + 1, &length);
    if (name[1])
        strcat(name, "'");
    else
        snprintf(name, sizeof name, "%d, in the order of their creation", window->number);
    log_fatal(call, "window", name, class);
}

int lmpi_error_of(const struct lmpi_window *window, int class, const char *call)
{
    MPI_Errhandler handler;
    if (PMPI_Win_get_errhandler(window->handle, &handler) == MPI_SUCCESS) {
        if (is_fatal(handler))
            log_window(window, class, call);
        PMPI_Errhandler_free(&handler);
    }
    PMPI_Win_call_errhandler(window->handle, class);
    return class;
}

int lmpi_comm_error(MPI_Comm comm, int class, const char *call)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    MPI_Errhandler handler;
    if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) {
        PMPI_Comm_get_name(comm, name, &length);
        if (is_fatal(handler))
            log_fatal(call, "communicator", name, class);
        PMPI_Errhandler_free(&handler);
    }
    PMPI_Comm_call_errhandler(comm, class);
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
            lmpi_log_mistake("LATERAL_CHECK: an operation uses memory that its owner has released");
        return MPI_ERR_RMA_ATTACH;
    }
    return MPI_ERR_OTHER;
}
