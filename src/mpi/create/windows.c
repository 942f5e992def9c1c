/* The functions of the program that make and free windows, and ask for their parts. */
#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/create/carrier.h"
#include "mpi/create/create.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/dup.h"
#include "mpi/window/window.h"

#include <limits.h>
#include <string.h>

/* The program's own memory stays as it is. Node peers map it where it is memory of ours, else the kernel copies. */
static void offer_range(struct lmpi_offer *offer)
{
    if (offer->bytes &&
        uccs_memory_register(lmpi_process.context, offer->base, offer->bytes, &offer->memory) != UCCS_OK)
        offer->why_not = "its memory cannot be registered";
}

LMPI_EXPORT int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                 MPI_Win *win)
{
    const int wrong = lmpi_carrier_check(size, disp_unit, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.bytes = (size_t)size, .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_ALLOCATE};
    const char *why = lmpi_carrier_refuse(comm);
    if (why) {
        lmpi_carrier_log(0, offer.flavor, why);
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
    const int wrong = lmpi_carrier_check(size, disp_unit, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.base = base, .bytes = (size_t)size, .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_CREATE};
    const char *why = lmpi_carrier_refuse(comm);
    if (why) {
        lmpi_carrier_log(0, offer.flavor, why);
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
    const int wrong = lmpi_carrier_check(0, 1, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.unit = 1, .bytes = PTRDIFF_MAX, .flavor = MPI_WIN_FLAVOR_DYNAMIC};
    const char *why = lmpi_carrier_refuse(comm);
    if (why) {
        lmpi_carrier_log(0, offer.flavor, why);
        return lmpi_real.Win_create_dynamic(info, comm, win);
    }
    if (uccs_memory_dynamic(lmpi_process.context, &offer.memory) != UCCS_OK)
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

static bool is_busy(const struct lmpi_window *window)
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
    if (is_busy(window))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (window->children)
        return lmpi_error(window, MPI_ERR_RMA_CONFLICT);
    lmpi_complete_threads(window, -1);
    lmpi_barrier(window);
    int status = lmpi_real.Win_free(win); /* the handle window; its attributes' callbacks still find the window */
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

/* MPI_Win_allocate_shared and MPI_Win_shared_query. */

static bool wants_pieces(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "alloc_shared_noncontig", MPI_MAX_INFO_VAL, value, &found);
    return found && strcmp(value, "true") == 0;
}

/* Finds this rank's place in the one piece of memory, which rank 0 makes. */
static void offer_part(struct lmpi_offer *offer, MPI_Comm comm, MPI_Info info)
{
    unsigned long long mine = offer->bytes, before = 0, all = 0;
    int rank;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Exscan(&mine, &before, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
    PMPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm);
    offer->offset = rank ? before : 0;
    offer->of_first = true;
    if (rank == 0)
        lmpi_offer_new(offer, all, info);
}

LMPI_EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                        MPI_Win *win)
{
    const int wrong = lmpi_carrier_check(size, disp_unit, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.bytes = (size_t)size, .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_SHARED};
    const char *why = lmpi_carrier_refuse(comm);
    if (why) {
        lmpi_carrier_log(0, offer.flavor, why);
        return lmpi_real.Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
    }
    if (wants_pieces(info))
        lmpi_offer_new(&offer, offer.bytes, info);
    else
        offer_part(&offer, comm, info);
    struct lmpi_window *window = lmpi_window_make(&offer, comm, info);
    if (!window) {
        lmpi_offer_drop(&offer);
        return lmpi_real.Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
    }
    memcpy(baseptr, &window->base, sizeof window->base);
    *win = window->handle;
    return MPI_SUCCESS;
}
LMPI_NAME(Win_allocate_shared);

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
    /* null: not shared with this process (MPI 4.1), or a piece without bytes, as Open MPI and MPICH say it */
    const char *near = target->bytes || window->of_first ? target->near : 0;
    *size = near || window->flavor == MPI_WIN_FLAVOR_SHARED ? (MPI_Aint)target->bytes : 0;
    *disp_unit = (int)target->unit;
    memcpy(baseptr, &near, sizeof near);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_shared_query);

/* What is attached to dynamic windows. Such a window has one memory object of each rank, in which a displacement is an
 * address of the owner. The object itself knows its ranges. */

LMPI_EXPORT int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct lmpi_window *window = lmpi_window_root(win);
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
    struct lmpi_window *window = lmpi_window_root(win);
    if (!window)
        return lmpi_real.Win_detach(win, base);
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return lmpi_error(window, MPI_ERR_RMA_FLAVOR);
    if (uccs_memory_detach(window->own, (void *)base) != UCCS_OK && !detach_empty(window))
        return lmpi_error(window, MPI_ERR_RMA_ATTACH);
    return MPI_SUCCESS;
}
LMPI_NAME(Win_detach);

#if MPI_VERSION >= 4
/* A negative unit stays wrong. */
static int unit_of(MPI_Aint unit)
{
    return unit < 0 ? -1 : (int)unit;
}

/* Windows have no more bytes than an MPI_Aint counts, and units are small, so the forms that make windows are those of
 * the small counts. */

LMPI_EXPORT int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                                 MPI_Win *win)
{
    return disp_unit > INT_MAX ? lmpi_real.Win_create_c(base, size, disp_unit, info, comm, win)
                               : MPI_Win_create(base, size, unit_of(disp_unit), info, comm, win);
}
LMPI_NAME(Win_create_c);

LMPI_EXPORT int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                   MPI_Win *win)
{
    return disp_unit > INT_MAX ? lmpi_real.Win_allocate_c(size, disp_unit, info, comm, baseptr, win)
                               : MPI_Win_allocate(size, unit_of(disp_unit), info, comm, baseptr, win);
}
LMPI_NAME(Win_allocate_c);

LMPI_EXPORT int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                                          void *baseptr, MPI_Win *win)
{
    return disp_unit > INT_MAX ? lmpi_real.Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win)
                               : MPI_Win_allocate_shared(size, unit_of(disp_unit), info, comm, baseptr, win);
}
LMPI_NAME(Win_allocate_shared_c);

LMPI_EXPORT int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr)
{
    int unit = 0;
    if (!lmpi_window(win))
        return lmpi_real.Win_shared_query_c(win, rank, size, disp_unit, baseptr);
    int status = MPI_Win_shared_query(win, rank, size, &unit, baseptr);
    *disp_unit = unit;
    return status;
}
LMPI_NAME(Win_shared_query_c);
#endif
