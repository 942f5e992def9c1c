/* The five attributes that MPI defines for windows. Others are those of the handle window. */
#include "mpi/core/real.h"
#include "mpi/window/window.h"

LMPI_EXPORT int MPI_Win_get_attr(MPI_Win win, int key, void *value, int *flag)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_get_attr(win, key, value, flag);
    void *found;
    switch (key) {
    case MPI_WIN_BASE: found = window->base; break;
    case MPI_WIN_SIZE: found = &window->bytes; break;
    case MPI_WIN_DISP_UNIT: found = &window->unit; break;
    case MPI_WIN_CREATE_FLAVOR: found = &window->flavor; break;
    case MPI_WIN_MODEL: found = &window->model; break;
    default: return lmpi_real.Win_get_attr(win, key, value, flag);
    }
    *(void **)value = found;
    *flag = 1;
    return MPI_SUCCESS;
}
LMPI_NAME(Win_get_attr);

/* A handle window with a name or attributes of the program is not used again. */
LMPI_EXPORT int MPI_Win_set_attr(MPI_Win win, int key, void *value)
{
    struct lmpi_window *window = lmpi_window(win);
    if (window)
        window->marked = true;
    return lmpi_real.Win_set_attr(win, key, value);
}
LMPI_NAME(Win_set_attr);

LMPI_EXPORT int MPI_Win_set_name(MPI_Win win, const char *name)
{
    struct lmpi_window *window = lmpi_window(win);
    if (window)
        window->marked = true;
    return lmpi_real.Win_set_name(win, name);
}
LMPI_NAME(Win_set_name);
