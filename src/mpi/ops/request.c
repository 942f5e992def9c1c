/* Runs an operation that has a request or a notification, and makes requests that are complete. */
#include "mpi/ops/request.h"

#include "mpi/core/process.h"
#include "mpi/core/real.h"
#include "mpi/datatype/flatten.h"
#include "mpi/datatype/type.h"
#include "mpi/ops/accumulate.h"
#include "mpi/ops/pending.h"
#include "mpi/ops/rma.h"
#include "mpi/window/control.h"
#include "mpi/window/wait.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

#include <stdint.h>
#include <stdlib.h>

/* An operation on a wrong place gives its error at the call. */
int lmpi_request_finish(const struct lmpi_window *window, int status, MPI_Request *request, const char *call)
{
    return status == MPI_SUCCESS ? PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_life.self, request)
                                 : lmpi_error_of(window, status, call);
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

/* The request forms. What this node does is complete when the call returns; so is its request: a send to nobody, which costs a few
 * nanoseconds. So is that of a put or an accumulate to another node: the call waits until the substrate has copied or sent the
 * source, and small ones leave together. An operation that brings data from another node has a request that completes with the
 * data. MPI_Wait and its kin need not be ours. */

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

/* Requests that complete when the operation is complete at the target: MPIX_Rr..., and what MPI's request forms bring from
 * another node. Loads and stores are at once. An operation to another node has a completion function, which the request
 * waits for. */

struct remote {
    struct lmpi_pending pending;
    uint64_t old; /* of no use; an answer comes here */
    int happened; /* release: arrived; acquire: look */
};

static void arrived(void *argument, int status)
{
    struct remote *remote = argument;
    remote->pending.status = status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    __atomic_store_n(&remote->happened, 1, __ATOMIC_RELEASE);
}

static bool look(const struct lmpi_pending *pending)
{
    return __atomic_load_n(&((const struct remote *)pending)->happened, __ATOMIC_ACQUIRE);
}

static bool fetches(const struct lmpi_work *work)
{
    return work->swap || (work->update ? work->update->fetch : !work->move->put);
}

static const struct lmpi_peer *peer_of(const struct lmpi_window *window, int rank)
{
    return &(window->parent ? window->parent : window)->peer[rank];
}

/* An operation of several parts, or of none, is complete when a read behind it is. */
static int run_parts(struct lmpi_window *window, const struct lmpi_work *work, struct remote *remote,
                     struct uccs_op *op)
{
    const struct lmpi_target *target = &window->target[work->rank];
    int status = lmpi_work_run(window, work, 0);
    op->ordered = op->nonblocking = 1;
    return status != MPI_SUCCESS
               ? status
               : lmpi_class_of(uccs_atomic(target->endpoint, peer_of(window, work->rank)->memory, LMPI_WORD(lock), 8,
                                           UCCS_ATOMIC_FETCH, 0, 0, &remote->old, op));
}

static int run_later(struct lmpi_window *window, const struct lmpi_work *work, MPI_Request *request)
{
    struct remote *remote = calloc(1, sizeof *remote);
    struct uccs_op op = window->op ? *window->op : (struct uccs_op){0};
    if (!remote)
        return lmpi_error_of(window, MPI_ERR_NO_MEM, work->call);
    remote->pending.look = look;
    op.complete = arrived;
    op.argument = remote;
    /* Messages to another node are in order; what a process of this node is to execute waits. */
    op.nonblocking = fetches(work) && !peer_of(window, work->rank)->control;
    int status = work->whole ? lmpi_work_run(window, work, &op) : run_parts(window, work, remote, &op);
    if (status != MPI_SUCCESS) {
        free(remote);
        return lmpi_error_of(window, status, work->call);
    }
    if (!look(&remote->pending) && lmpi_pending_start(&remote->pending, request))
        return MPI_SUCCESS;
    struct lmpi_wait wait lmpi_scoped = {.window = window->parent ? window->parent : window, .rank = work->rank};
    while (!look(&remote->pending))
        lmpi_pause(&wait);
    status = remote->pending.status;
    free(remote);
    return lmpi_request_finish(window, status, request, work->call);
}

static int run_now(struct lmpi_window *window, const struct lmpi_work *work, MPI_Request *request)
{
    uccs_request_t own = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &own};
    int status = lmpi_work_run(window, work, &op);
    if (uccs_wait(&own) != UCCS_OK && status == MPI_SUCCESS)
        status = MPI_ERR_RMA_RANGE;
    uccs_request_release(&own);
    return lmpi_request_finish(window, status, request, work->call);
}

int lmpi_remote_start(struct lmpi_window *window, const struct lmpi_work *work, MPI_Request *request)
{
    int rank = work->rank;
    if (!request)
        return lmpi_error_of(window, MPI_ERR_ARG, work->call);
    if (rank == MPI_PROC_NULL)
        return lmpi_request_finish(window, MPI_SUCCESS, request, work->call);
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error_of(window, MPI_ERR_RANK, work->call);
    if (window->part && rank != window->rank)
        return lmpi_error_of(window, MPI_ERR_RANK, work->call);
    if (!((window->open | window->target[rank].open) & LMPI_PASSIVE))
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, work->call);
    if (!window->target[rank].local)
        return lmpi_pending_works() ? run_later(window, work, request) : run_now(window, work, request);
    int status = lmpi_work_run(window, work, 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return lmpi_request_finish(window, status, request, work->call);
}

int MPIX_Rrput(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
               int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_move move = {(char *)origin, origin_count, origin_type, rank, disp,
                             target_count,   target_type,  true,        0,    false};
    return window ? lmpi_remote_start(window,
                                      &(struct lmpi_work){.call = __func__,
                                                          .move = &move,
                                                          .rank = rank,
                                                          .whole = lmpi_work_is_whole(origin_count, origin_type,
                                                                                      target_type)},
                                      request)
                  : MPI_ERR_WIN;
}

int MPIX_Rraccumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                      int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_update update = {.origin = {(char *)origin, origin_count, origin_type},
                                 .rank = rank,
                                 .disp = disp,
                                 .count = target_count,
                                 .type = target_type,
                                 .op = op};
    return window ? lmpi_remote_start(window,
                                      &(struct lmpi_work){.call = __func__,
                                                          .update = &update,
                                                          .rank = rank,
                                                          .whole = lmpi_work_is_whole(origin_count, origin_type,
                                                                                      target_type)},
                                      request)
                  : MPI_ERR_WIN;
}

int MPIX_Rrget_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, void *result,
                          int result_count, MPI_Datatype result_type, int rank, MPI_Aint disp, int target_count,
                          MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_update update = {.origin = {(char *)origin, origin_count, origin_type},
                                 .result = {result, result_count, result_type},
                                 .fetch = true,
                                 .rank = rank,
                                 .disp = disp,
                                 .count = target_count,
                                 .type = target_type,
                                 .op = op};
    return window ? lmpi_remote_start(window,
                                      &(struct lmpi_work){.call = __func__,
                                                          .update = &update,
                                                          .rank = rank,
                                                          .whole = lmpi_work_is_whole(target_count, result_type,
                                                                                      target_type) &&
                                                                   (op == MPI_NO_OP ||
                                                                    lmpi_work_is_whole(1, origin_type, target_type))},
                                      request)
                  : MPI_ERR_WIN;
}

int MPIX_Rrfetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
                        MPI_Win win, MPI_Request *request)
{
    return MPIX_Rrget_accumulate(origin, 1, type, result, 1, type, rank, disp, 1, type, op, win, request);
}

int MPIX_Rrcompare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int rank,
                            MPI_Aint disp, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return MPI_ERR_WIN;
    struct lmpi_swap swap = {origin, compare, result, type, rank, disp, 0, false};
    return lmpi_remote_start(window, &(struct lmpi_work){.call = __func__, .swap = &swap, .rank = rank, .whole = true},
                             request);
}
