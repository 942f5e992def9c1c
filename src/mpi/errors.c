/* Errors go through the window's handler, which the shadow window holds. */
#include "window.h"

int lmpi_error(const struct lmpi_window *window, int class)
{
    PMPI_Win_call_errhandler(window->handle, class);
    return class;
}
