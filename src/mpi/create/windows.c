/* The functions of the program that make and free windows, and ask for their parts and attributes. */
#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/create/create.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

#include <limits.h>
#include <string.h>

/* What is known of an offer before its memory, by the names of a function's parameters. */
#define OFFER(kind, size, disp_unit)                                                                         \
    .bytes = (size_t)(size), .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_##kind, .comm = comm, .info = info, \
    .call = __func__

/* The program's own memory stays as it is. Node peers map it where it is memory of ours, else the kernel copies. */
static void bring_range(struct lmpi_offer *offer)
{
    if (offer->bytes &&
        uccs_memory_register(lmpi_process.context, offer->base, offer->bytes, &offer->memory) != UCCS_OK)
        offer->why_not = "its memory cannot be registered";
}

LMPI_EXPORT int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct lmpi_offer offer = {.base = base, OFFER(CREATE, size, disp_unit)};
    const int status = lmpi_window_make(&offer, bring_range, true, win);
    return status == LMPI_OF_MPI ? lmpi_real.Win_create(base, size, disp_unit, info, comm, win) : status;
}
LMPI_NAME(Win_create);

static void bring_block(struct lmpi_offer *offer)
{
    lmpi_offer_new(offer, offer->bytes);
}

LMPI_EXPORT int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                 MPI_Win *win)
{
    struct lmpi_offer offer = {OFFER(ALLOCATE, size, disp_unit)};
    const int status = lmpi_window_make(&offer, bring_block, baseptr, win);
    if (status == LMPI_OF_MPI)
        return lmpi_real.Win_allocate(size, disp_unit, info, comm, baseptr, win);
    if (status == MPI_SUCCESS)
        memcpy(baseptr, &offer.base, sizeof offer.base);
    return status;
}
LMPI_NAME(Win_allocate);

/* Finds this rank's place in the one piece of memory, which rank 0 makes. */
static void bring_part(struct lmpi_offer *offer)
{
    unsigned long long mine = offer->bytes, before = 0, all = 0;
    int rank;
    PMPI_Comm_rank(offer->comm, &rank);
    PMPI_Exscan(&mine, &before, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, offer->comm);
    PMPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, offer->comm);
    offer->offset = rank ? before : 0;
    offer->of_first = true;
    if (rank == 0)
        lmpi_offer_new(offer, all);
}

static bool wants_pieces(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "alloc_shared_noncontig", MPI_MAX_INFO_VAL, value, &found);
    return found && strcmp(value, "true") == 0;
}

LMPI_EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                        MPI_Win *win)
{
    struct lmpi_offer offer = {OFFER(SHARED, size, disp_unit)};
    const int status = lmpi_window_make(&offer, wants_pieces(info) ? bring_block : bring_part, baseptr, win);
    if (status == LMPI_OF_MPI)
        return lmpi_real.Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
    if (status == MPI_SUCCESS)
        memcpy(baseptr, &offer.base, sizeof offer.base);
    return status;
}
LMPI_NAME(Win_allocate_shared);

static void bring_dynamic(struct lmpi_offer *offer)
{
    if (uccs_memory_dynamic(lmpi_process.context, &offer->memory) != UCCS_OK)
        offer->why_not = "no memory object is left";
}

LMPI_EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct lmpi_offer offer = {OFFER(DYNAMIC, PTRDIFF_MAX, 1)};
    const int status = lmpi_window_make(&offer, bring_dynamic, true, win);
    if (status == LMPI_OF_MPI)
        return lmpi_real.Win_create_dynamic(info, comm, win);
    if (status == MPI_SUCCESS)
        lmpi_window(*win)->bytes = 0; /* the attribute */
    return status;
}
LMPI_NAME(Win_create_dynamic);

LMPI_EXPORT int MPI_Win_free(MPI_Win *win)
{
    struct lmpi_window *window = win ? lmpi_window(*win) : 0;
    if (!window)
        return win ? lmpi_real.Win_free(win) : lmpi_comm_error(MPI_COMM_WORLD, MPI_ERR_ARG, __func__);
    if (window->parent)
        return lmpi_child_free(window, win);
    if (lmpi_window_has_epoch(window))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (window->children)
        return lmpi_error(window, MPI_ERR_RMA_CONFLICT);
    lmpi_complete_threads(window, -1);
    lmpi_barrier(window);
    const int status = lmpi_window_end(window, win);
    if (status == MPI_SUCCESS)
        lmpi_window_free(window);
    return status;
}
LMPI_NAME(Win_free);

static int get_group(const struct lmpi_window *window, MPI_Group *group)
{
    return group ? PMPI_Group_union(window->group, MPI_GROUP_EMPTY, group) : MPI_ERR_ARG;
}
LMPI_TAKE(Win_get_group, lmpi_window, get_group(window, group), (win, group), MPI_Win win, MPI_Group *group);

/* Finds a rank's part; for MPI_PROC_NULL the one of the lowest rank that has memory. Returns an error class. */
static int query_shared(struct lmpi_window *window, int rank, MPI_Aint *size, MPI_Aint *unit, void *baseptr)
{
    if (window->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return MPI_ERR_RMA_FLAVOR;
    if (!size || !unit || !baseptr)
        return MPI_ERR_ARG;
    if (rank == MPI_PROC_NULL)
        for (rank = 0; rank < window->ranks - 1 && !(lmpi_target(window, rank)->bytes && window->target[rank].near);)
            rank++;
    if (rank < 0 || rank >= window->ranks)
        return MPI_ERR_RANK;
    const struct lmpi_target *target = lmpi_target(window, rank);
    /* null: not shared with this process (MPI 4.1), or a piece without bytes, as Open MPI and MPICH say it */
    const char *near = target->bytes || window->of_first ? target->near : 0;
    *size = near || window->flavor == MPI_WIN_FLAVOR_SHARED ? (MPI_Aint)target->bytes : 0;
    *unit = target->unit;
    memcpy(baseptr, &near, sizeof near);
    return MPI_SUCCESS;
}

static int query_shared_small(struct lmpi_window *window, int rank, MPI_Aint *size, int *unit, void *baseptr)
{
    MPI_Aint found;
    const int status = query_shared(window, rank, size, unit ? &found : 0, baseptr);
    if (status == MPI_SUCCESS)
        *unit = (int)found;
    return status;
}
LMPI_TAKE(Win_shared_query, lmpi_window, query_shared_small(window, rank, size, disp_unit, baseptr),
          (win, rank, size, disp_unit, baseptr), MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr);

/* The five attributes that MPI defines for windows. Others are those of the handle window. */
LMPI_EXPORT int MPI_Win_get_attr(MPI_Win win, int key, void *value, int *flag)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Win_get_attr(win, key, value, flag);
    if (!value || !flag)
        return lmpi_error(window, MPI_ERR_ARG);
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

LMPI_EXPORT int MPI_Win_set_attr(MPI_Win win, int key, void *value)
{
    lmpi_window_mark(win);
    return lmpi_real.Win_set_attr(win, key, value);
}
LMPI_NAME(Win_set_attr);

LMPI_EXPORT int MPI_Win_set_name(MPI_Win win, const char *name)
{
    lmpi_window_mark(win);
    return lmpi_real.Win_set_name(win, name);
}
LMPI_NAME(Win_set_name);

/* What is attached to dynamic windows. Such a window has one memory object of each rank, in which a displacement is an
 * address of the owner. The object itself knows its ranges. */

static int attach_range(struct lmpi_window *window, void *base, MPI_Aint size)
{
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return MPI_ERR_RMA_FLAVOR;
    if (size < 0)
        return MPI_ERR_SIZE;
    if (size == 0)
        __atomic_fetch_add(&window->attached_empty, 1, __ATOMIC_RELAXED);
    else if (uccs_memory_attach(window->own, base, (size_t)size) != UCCS_OK)
        return MPI_ERR_RMA_ATTACH;
    return MPI_SUCCESS;
}
LMPI_TAKE(Win_attach, lmpi_window_root, attach_range(window, base, size), (win, base, size), MPI_Win win, void *base,
          MPI_Aint size);

/* Ranges without bytes are no ranges of the object, so they are only counted. Returns false when there is none left. */
static bool detach_empty(struct lmpi_window *window)
{
    unsigned left = __atomic_load_n(&window->attached_empty, __ATOMIC_RELAXED);
    while (left && !__atomic_compare_exchange_n(&window->attached_empty, &left, left - 1, 0, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED))
        ;
    return left != 0;
}

static int detach_range(struct lmpi_window *window, const void *base)
{
    if (window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return MPI_ERR_RMA_FLAVOR;
    return uccs_memory_detach(window->own, (void *)base) == UCCS_OK || detach_empty(window) ? MPI_SUCCESS
                                                                                            : MPI_ERR_RMA_ATTACH;
}
LMPI_TAKE(Win_detach, lmpi_window_root, detach_range(window, base), (win, base), MPI_Win win, const void *base);

#if MPI_VERSION >= 4
/* A negative unit stays wrong. */
static int unit_of(MPI_Aint unit)
{
    return unit < 0 ? -1 : (int)unit;
}

/* Windows have no more bytes than an MPI_Aint counts, and units are small, so the forms that make windows are those of the small counts.
 * `small` has their arguments, `large` those of the MPI's own. */
#define LARGE(name, small, large, ...)                                            \
    LMPI_EXPORT int MPI_##name##_c(__VA_ARGS__)                                   \
    {                                                                             \
        return disp_unit > INT_MAX ? lmpi_real.name##_c large : MPI_##name small; \
    }                                                                             \
    LMPI_NAME(name##_c)

LARGE(Win_create, (base, size, unit_of(disp_unit), info, comm, win), (base, size, disp_unit, info, comm, win),
      void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win);
LARGE(Win_allocate, (size, unit_of(disp_unit), info, comm, baseptr, win), (size, disp_unit, info, comm, baseptr, win),
      MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win);
LARGE(Win_allocate_shared, (size, unit_of(disp_unit), info, comm, baseptr, win),
      (size, disp_unit, info, comm, baseptr, win), MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
      void *baseptr, MPI_Win *win);

LMPI_TAKE(Win_shared_query_c, lmpi_window, query_shared(window, rank, size, disp_unit, baseptr),
          (win, rank, size, disp_unit, baseptr), MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
          void *baseptr);
#endif
