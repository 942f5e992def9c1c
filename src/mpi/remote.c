/* Requests that complete when the operation is complete at the target: MPIX_Rr..., and what MPI's request forms bring from
 * another node. Loads and stores are at once. An operation to another node has a completion function, which the request
 * waits for. */
#include "control.h"
#include "mpix_rma.h"
#include "pending.h"
#include "progress.h"
#include "request.h"

#include <stdlib.h>

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
