/* What is attached to dynamic windows. Such a window has one memory object of each rank, in which a displacement is an
 * address of the owner. The object itself knows its ranges. */
#include "family.h"
#include "real.h"

LMPI_EXPORT int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_attach(win, base, size);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    if (size < 0)
        return lmpi_error(window, MPI_ERR_SIZE);
    if (size == 0)
        __atomic_fetch_add(&window->attached_empty, 1, __ATOMIC_RELAXED);
    else if (uccs_memory_attach(window->own, base, (size_t)size) != UCCS_OK)
        return lmpi_error(window, MPI_ERR_RMA_ATTACH);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_attach);

/* Ranges without bytes are no ranges of the object, so they are only counted. Returns false when there is none left. */
static bool detach_empty(struct lmpi_window *window)
{
    unsigned left = __atomic_load_n(&window->attached_empty, __ATOMIC_RELAXED);
    while (left && !__atomic_compare_exchange_n(&window->attached_empty, &left, left - 1, 0, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED))
        ;
    return left != 0;
}

LMPI_EXPORT int MPI_Win_detach(MPI_Win win, const void *base)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_detach(win, base);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    if (uccs_memory_detach(window->own, (void *)base) != UCCS_OK && !detach_empty(window))
        return lmpi_error(window, MPI_ERR_RMA_ATTACH);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_detach);
