/* The request forms. Data is where it belongs, or on its way with the source copied, when the call returns; so the
 * request is complete at once: a send to nobody, which costs a few nanoseconds. MPI_Wait and its kin need not be ours. */
#include "request.h"

#include "real.h"

/* An operation on a wrong place gives its error at the call. */
int lmpi_request_finish(const struct lmpi_window *window, int status, MPI_Request *request)
{
    return status == MPI_SUCCESS ? PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_life.self, request)
                                 : lmpi_error(window, status);
}

int lmpi_work_run(struct lmpi_window *window, const struct lmpi_work *work, const struct uccs_op *op)
{
    if (work->move) {
        work->move->op = op;
        return lmpi_move(window, work->move);
    }
    if (work->swap) {
        work->swap->way = op;
        return lmpi_swap(window, work->swap);
    }
    work->update->way = op;
    return lmpi_update(window, work->update);
}

bool lmpi_work_is_whole(MPI_Aint count, MPI_Datatype origin, MPI_Datatype target)
{
    const struct lmpi_type *first = lmpi_type(origin), *second = lmpi_type(target);
    return count > 0 && first && second && first->dense && second->dense && first->size && second->size;
}

/* Request forms need a passive epoch. */
static bool passive(const struct lmpi_window *window, int rank)
{
    return window->open & LMPI_OPEN_LOCK_ALL || rank < 0 || rank >= window->ranks ||
           window->target[rank].open & LMPI_PASSIVE;
}

int lmpi_request_move(struct lmpi_window *window, const struct lmpi_move *move, MPI_Request *request)
{
    return lmpi_request_finish(window, passive(window, move->rank) ? lmpi_move(window, move) : MPI_ERR_RMA_SYNC,
                               request);
}

int lmpi_request_update(struct lmpi_window *window, const struct lmpi_update *update, MPI_Request *request)
{
    return lmpi_request_finish(window, passive(window, update->rank) ? lmpi_update(window, update) : MPI_ERR_RMA_SYNC,
                               request);
}

LMPI_EXPORT int MPI_Rput(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                         int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rput(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, request);
    return lmpi_request_move(window,
                             &(struct lmpi_move){(char *)origin, origin_count, origin_type, rank, disp, target_count,
                                                 target_type, true, 0},
                             request);
}
LMPI_NAME(Rput);

LMPI_EXPORT int MPI_Rget(void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                         int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rget(origin, origin_count, origin_type, rank, disp, target_count, target_type, win, request);
    return lmpi_request_move(window,
                             &(struct lmpi_move){origin, origin_count, origin_type, rank, disp, target_count,
                                                 target_type, false, 0},
                             request);
}
LMPI_NAME(Rget);

LMPI_EXPORT int MPI_Raccumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Raccumulate(origin, origin_count, origin_type, rank, disp, target_count, target_type, op, win,
                                     request);
    return lmpi_request_update(window,
                               &(struct lmpi_update){.origin = {(char *)origin, origin_count, origin_type},
                                                     .rank = rank,
                                                     .disp = disp,
                                                     .count = target_count,
                                                     .type = target_type,
                                                     .op = op},
                               request);
}
LMPI_NAME(Raccumulate);

LMPI_EXPORT int MPI_Rget_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, void *result,
                                    int result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                                    int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                    MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return lmpi_real.Rget_accumulate(origin, origin_count, origin_type, result, result_count, result_type, rank,
                                         disp, target_count, target_type, op, win, request);
    return lmpi_request_update(window,
                               &(struct lmpi_update){.origin = {(char *)origin, origin_count, origin_type},
                                                     .result = {result, result_count, result_type},
                                                     .fetch = true,
                                                     .rank = rank,
                                                     .disp = disp,
                                                     .count = target_count,
                                                     .type = target_type,
                                                     .op = op},
                               request);
}
LMPI_NAME(Rget_accumulate);
