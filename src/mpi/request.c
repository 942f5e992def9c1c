/* The request forms. Data is where it belongs, or on its way with the source copied, when the call returns; so the
 * request is complete at once: a send to nobody, which costs a few nanoseconds. MPI_Wait and its kin need not be ours. */
#include "rma.h"

#include "real.h"

static int finished(MPI_Request *request)
{
    return PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_life.self, request);
}

/* A request of a get or a put to the wrong place gives its error at the call. */
static int move(struct lmpi_window *window, const struct lmpi_move *move, MPI_Request *request)
{
    int status = window->open & LMPI_OPEN_LOCK_ALL || move->rank < 0 || move->rank >= window->ranks ||
                         window->target[move->rank].open & LMPI_PASSIVE
                     ? lmpi_move(window, move)
                     : MPI_ERR_RMA_SYNC;
    return status == MPI_SUCCESS ? finished(request) : lmpi_error(window, status);
}

LMPI_EXPORT int MPI_Rput(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                         int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rput(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, request);
    return move(window,
                &(struct lmpi_move){(char *)origin, origin_count, origin_type, rank, disp, target_count, target_type,
                                    true},
                request);
}
LMPI_NAME(Rput);

LMPI_EXPORT int MPI_Rget(void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                         int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rget(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, request);
    return move(window,
                &(struct lmpi_move){origin, origin_count, origin_type, rank, disp, target_count, target_type, false},
                request);
}
LMPI_NAME(Rget);
