/* The request forms. What this node does is complete when the call returns; so is its request: a send to nobody, which costs a few
 * nanoseconds. So is that of a put or an accumulate to another node: the call waits until the substrate has copied or sent the
 * source, and small ones leave together. An operation that brings data from another node has a request that completes with the
 * data. MPI_Wait and its kin need not be ours. */
#include "request.h"

#include "pending.h"
#include "real.h"

/* Request forms need a passive epoch. */
static bool passive(const struct lmpi_window *window, int rank)
{
    return window->open & LMPI_OPEN_LOCK_ALL || rank < 0 || rank >= window->ranks ||
           window->target[rank].open & LMPI_PASSIVE;
}

/* The answer of another node need not be waited for. */
static bool brings(const struct lmpi_window *window, int rank)
{
    return rank >= 0 && rank < window->ranks && !window->target[rank].local && lmpi_pending_works();
}

/* Moves, and waits until the program may use its buffers. */
static int move_to_local(struct lmpi_window *window, struct lmpi_move *move)
{
    uccs_request_t local = UCCS_REQUEST_NULL;
    struct uccs_op op;
    if (move->rank < 0 || move->rank >= window->ranks || window->target[move->rank].local)
        return lmpi_move(window, move);
    (void)lmpi_window_op(window, true, &op);
    op.local = &local;
    move->op = &op;
    int status = lmpi_move(window, move);
    if (uccs_wait(&local) != UCCS_OK && status == MPI_SUCCESS)
        status = MPI_ERR_RMA_RANGE;
    uccs_request_release(&local);
    return status;
}

int lmpi_request_move(struct lmpi_window *window, const struct lmpi_move *move, MPI_Request *request)
{
    struct lmpi_move own = *move;
    const char *call = move->put ? "MPI_Rput" : "MPI_Rget";
    if (!passive(window, move->rank))
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, call);
    if (move->put || !brings(window, move->rank))
        return lmpi_request_finish(window, move_to_local(window, &own), request, call);
    return lmpi_remote_start(window,
                             &(struct lmpi_work){.move = &own,
                                                 .call = call,
                                                 .rank = move->rank,
                                                 .whole = lmpi_work_is_whole(move->origin_count, move->origin_type,
                                                                             move->target_type)},
                             request);
}

int lmpi_request_update(struct lmpi_window *window, const struct lmpi_update *update, MPI_Request *request)
{
    struct lmpi_update own = *update;
    const char *call = update->fetch ? "MPI_Rget_accumulate" : "MPI_Raccumulate";
    if (!passive(window, update->rank))
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, call);
    own.later = !update->fetch; /* small operands are copied, and of others the source is free on return */
    if (!update->fetch || !brings(window, update->rank))
        return lmpi_request_finish(window, lmpi_update(window, &own), request, call);
    return lmpi_remote_start(window,
                             &(struct lmpi_work){.update = &own,
                                                 .call = call,
                                                 .rank = update->rank,
                                                 .whole = lmpi_work_is_whole(update->count, update->result.type,
                                                                             update->type) &&
                                                          (update->op == MPI_NO_OP ||
                                                           lmpi_work_is_whole(1, update->origin.type, update->type))},
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
                                                 target_type, true, 0, false},
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
                                                 target_type, false, 0, false},
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
