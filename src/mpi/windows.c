/* The functions of the program that make and free windows, and ask for their parts. */
#include "create.h"

#include "carrier.h"
#include "control.h"
#include "family.h"
#include "real.h"

#include <string.h>

/* The program's own memory stays as it is. Node peers map it where it is memory of ours, else the kernel copies. */
static void offer_range(struct lmpi_offer *offer)
{
    if (offer->bytes && uccs_memory_register(lmpi_life.context, offer->base, offer->bytes, &offer->memory) != UCCS_OK)
        offer->why_not = "its memory cannot be registered";
}

LMPI_EXPORT int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                 MPI_Win *win)
{
    const int wrong = lmpi_window_wrong(size, disp_unit, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.bytes = (size_t)size, .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_ALLOCATE};
    const char *why = lmpi_window_refused(comm);
    if (why) {
        lmpi_window_tell(0, offer.flavor, why);
        return lmpi_real.Win_allocate(size, disp_unit, info, comm, baseptr, win);
    }
    lmpi_offer_new(&offer, offer.bytes, info);
    struct lmpi_window *window = lmpi_window_make(&offer, comm, info);
    if (!window) {
        lmpi_offer_drop(&offer);
        return lmpi_real.Win_allocate(size, disp_unit, info, comm, baseptr, win);
    }
    memcpy(baseptr, &offer.base, sizeof offer.base);
    *win = window->handle;
    return MPI_SUCCESS;
}
LMPI_NAME(Win_allocate);

LMPI_EXPORT int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    const int wrong = lmpi_window_wrong(size, disp_unit, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.base = base, .bytes = (size_t)size, .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_CREATE};
    const char *why = lmpi_window_refused(comm);
    if (why) {
        lmpi_window_tell(0, offer.flavor, why);
        return lmpi_real.Win_create(base, size, disp_unit, info, comm, win);
    }
    offer_range(&offer);
    struct lmpi_window *window = lmpi_window_make(&offer, comm, info);
    if (!window) {
        lmpi_offer_drop(&offer);
        return lmpi_real.Win_create(base, size, disp_unit, info, comm, win);
    }
    *win = window->handle;
    return MPI_SUCCESS;
}
LMPI_NAME(Win_create);

LMPI_EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    const int wrong = lmpi_window_wrong(0, 1, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.unit = 1, .bytes = PTRDIFF_MAX, .flavor = MPI_WIN_FLAVOR_DYNAMIC};
    const char *why = lmpi_window_refused(comm);
    if (why) {
        lmpi_window_tell(0, offer.flavor, why);
        return lmpi_real.Win_create_dynamic(info, comm, win);
    }
    if (uccs_memory_dynamic(lmpi_life.context, &offer.memory) != UCCS_OK)
        offer.why_not = "no memory object is left";
    struct lmpi_window *window = lmpi_window_make(&offer, comm, info);
    if (!window) {
        lmpi_offer_drop(&offer);
        return lmpi_real.Win_create_dynamic(info, comm, win);
    }
    window->bytes = 0; /* the attribute */
    *win = window->handle;
    return MPI_SUCCESS;
}
LMPI_NAME(Win_create_dynamic);

static bool busy(const struct lmpi_window *window)
{
    bool open = (window->open & LMPI_OPEN_LOCK_ALL) || window->started || window->exposed >= 0;
    for (int i = 0; i < window->ranks && !open; i++)
        open = window->target[i].open != 0;
    return open;
}

LMPI_EXPORT int MPI_Win_free(MPI_Win *win)
{
    struct lmpi_window *window = lmpi_window(*win);
    if (!window)
        return lmpi_real.Win_free(win);
    if (window->parent)
        return lmpi_child_free(window, win);
    if (busy(window))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (window->children)
        return lmpi_error(window, MPI_ERR_RMA_CONFLICT);
    lmpi_complete_threads(window, -1);
    lmpi_barrier(window);
    int status = lmpi_real.Win_free(win); /* the shadow; its attributes' callbacks still find the window */
    if (status != MPI_SUCCESS)
        return status; /* a callback has refused */
    lmpi_window_remove(window);
    lmpi_window_free(window);
    return status;
}
LMPI_NAME(Win_free);

LMPI_EXPORT int MPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    struct lmpi_window *window = lmpi_window(win);
    return window ? PMPI_Group_union(window->group, MPI_GROUP_EMPTY, group) : lmpi_real.Win_get_group(win, group);
}
LMPI_NAME(Win_get_group);
