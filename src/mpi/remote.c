/* MPIX_Rr...: requests that complete when the operation is complete at the target. Loads and stores are at once. An
 * operation to another node completes a generalized request from the thread that sees it arrive, where the MPI's waits
 * move the substrate and the program lets any thread call the MPI; else the call waits. */
#include "mpix_rma.h"
#include "progress.h"
#include "request.h"
#include "streams.h"

#include <stdlib.h>

struct pending {
    struct uccs_op op;
    int status; /* an error class; written before the request is complete */
    MPI_Request request;
};

static int query(void *state, MPI_Status *status)
{
    const struct pending *pending = state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return pending->status;
}

static int release(void *state)
{
    free(state);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void arrived(void *argument, int status)
{
    struct pending *pending = argument;
    pending->status = status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    PMPI_Grequest_complete(pending->request);
}

/* The operation that a request is for: one of the two. */
struct work {
    struct lmpi_move *move;
    struct lmpi_update *update;
    int rank;
    bool single; /* one operation of the substrate */
};

static int run(struct lmpi_window *window, const struct work *work, const struct uccs_op *op)
{
    if (work->move) {
        work->move->op = op;
        return lmpi_move(window, work->move);
    }
    work->update->way = op;
    return lmpi_update(window, work->update);
}

static int finish(const struct lmpi_window *window, int status, MPI_Request *request)
{
    return status == MPI_SUCCESS ? PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_life.self, request)
                                 : lmpi_error(window, status);
}

static int run_later(struct lmpi_window *window, const struct work *work, MPI_Request *request)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (!pending || PMPI_Grequest_start(query, release, cancel, pending, &pending->request) != MPI_SUCCESS) {
        free(pending);
        return lmpi_error(window, MPI_ERR_NO_MEM);
    }
    MPI_Request made = pending->request;
    if (window->op)
        pending->op = *window->op;
    pending->op.complete = arrived;
    pending->op.argument = pending;
    int status = run(window, work, &pending->op);
    if (status == MPI_SUCCESS) {
        *request = made;
        return MPI_SUCCESS;
    }
    PMPI_Grequest_complete(made);
    PMPI_Wait(&made, MPI_STATUS_IGNORE);
    return lmpi_error(window, status);
}

static int run_now(struct lmpi_window *window, const struct work *work, MPI_Request *request)
{
    uccs_request_t own = UCCS_REQUEST_NULL;
    const struct uccs_op op = {.request = &own};
    int status = run(window, work, &op);
    if (uccs_wait(&own) != UCCS_OK && status == MPI_SUCCESS)
        status = MPI_ERR_RMA_RANGE;
    uccs_request_release(&own);
    return finish(window, status, request);
}

static int start(struct lmpi_window *window, const struct work *work, MPI_Request *request)
{
    int rank = work->rank;
    if (rank == MPI_PROC_NULL)
        return finish(window, MPI_SUCCESS, request);
    if (rank < 0 || rank >= window->ranks)
        return lmpi_error(window, MPI_ERR_RANK);
    if (window->part && rank != window->rank)
        return lmpi_error(window, MPI_ERR_RANK);
    if (!((window->open | window->target[rank].open) & LMPI_PASSIVE))
        return lmpi_error(window, MPI_ERR_RMA_SYNC);
    if (!window->target[rank].near)
        return work->single && lmpi_life.any_thread && lmpi_progress_inside() ? run_later(window, work, request)
                                                                              : run_now(window, work, request);
    int status = run(window, work, 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return finish(window, status, request);
}

static bool single(MPI_Aint count, MPI_Datatype a, MPI_Datatype b)
{
    const struct lmpi_type *first = lmpi_type(a), *second = lmpi_type(b);
    return count > 0 && first && second && first->dense && second->dense && first->size && second->size;
}

int MPIX_Rrput(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
               int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_move move = {(char *)origin, origin_count, origin_type, rank, disp, target_count, target_type, true, 0};
    return window ? start(window,
                          &(struct work){.move = &move,
                                         .rank = rank,
                                         .single = single(origin_count, origin_type, target_type)},
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
    return window ? start(window,
                          &(struct work){.update = &update,
                                         .rank = rank,
                                         .single = single(origin_count, origin_type, target_type)},
                          request)
                  : MPI_ERR_WIN;
}

/* Old values have come back from the target when these calls return, so the new ones are there. */
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
    return window ? start(window, &(struct work){.update = &update, .rank = rank}, request) : MPI_ERR_WIN;
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
    bool known = rank >= 0 && rank < window->ranks;
    if (known && !((window->open | window->target[rank].open) & LMPI_PASSIVE))
        return lmpi_error(window, window->part && rank != window->rank ? MPI_ERR_RANK : MPI_ERR_RMA_SYNC);
    int status = MPI_Compare_and_swap(origin, compare, result, type, rank, disp, win);
    return status == MPI_SUCCESS ? finish(window, MPI_SUCCESS, request) : status;
}
