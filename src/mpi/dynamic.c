/* Dynamic windows: one memory object of each rank, in which a displacement is an address of the owner. */
#include "create.h"

#include "family.h"
#include "real.h"

LMPI_EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct lmpi_offer offer = {.unit = 1, .bytes = PTRDIFF_MAX, .flavor = MPI_WIN_FLAVOR_DYNAMIC};
    const char *why = lmpi_window_refused(comm);
    if (why) {
        lmpi_window_tell(0, offer.flavor, why);
        return lmpi_real.Win_create_dynamic(info, comm, win);
    }
    if (uccs_memory_dynamic(lmpi_life.context, &offer.memory) != UCCS_OK)
        offer.why_not = "no memory object is left";
    offer.made = offer.memory != 0;
    struct lmpi_window *window = lmpi_window_make(&offer, comm, info);
    if (!window) {
        if (offer.made)
            uccs_memory_release(offer.memory);
        return lmpi_real.Win_create_dynamic(info, comm, win);
    }
    window->bytes = 0; /* the attribute */
    *win = window->handle;
    return MPI_SUCCESS;
}
LMPI_NAME(Win_create_dynamic);

LMPI_EXPORT int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_attach(win, base, size);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    if (size < 0)
        return lmpi_error(window, MPI_ERR_SIZE);
    int status = size ? uccs_memory_attach(window->own, base, (size_t)size) : UCCS_OK;
    return status == UCCS_OK ? MPI_SUCCESS : lmpi_error(window, MPI_ERR_RMA_ATTACH);
}
LMPI_NAME(Win_attach);

LMPI_EXPORT int MPI_Win_detach(MPI_Win win, const void *base)
{
    struct lmpi_window *window = lmpi_window_first(win);
    if (!window)
        return lmpi_real.Win_detach(win, base);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    int status = uccs_memory_detach(window->own, (void *)base);
    return status == UCCS_OK ? MPI_SUCCESS : lmpi_error(window, MPI_ERR_RMA_ATTACH);
}
LMPI_NAME(Win_detach);
