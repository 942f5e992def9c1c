/* MPI_Win_allocate_shared and MPI_Win_shared_query. */
#include "create.h"

#include "carrier.h"
#include "real.h"

#include <string.h>

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
    const int wrong = lmpi_window_wrong(size, disp_unit, comm);
    if (wrong != MPI_SUCCESS)
        return wrong;
    struct lmpi_offer offer = {.bytes = (size_t)size, .unit = disp_unit, .flavor = MPI_WIN_FLAVOR_SHARED};
    const char *why = lmpi_window_refused(comm);
    if (why) {
        lmpi_window_tell(0, offer.flavor, why);
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
