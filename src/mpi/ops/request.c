/* Requests of operations. What this node does is complete when the call returns; so is its request: a send to nobody, which costs a few
 * nanoseconds. So is MPI's request of a put or an accumulate to another node: the call waits until the substrate has copied or sent the
 * source, and small ones leave together. Another operation to another node has a request that its completion function completes.
 * MPI_Wait and its kin need not be ours. */
#include "mpi/core/process.h"
#include "mpi/ops/operation.h"
#include "mpi/ops/pending.h"
#include "mpi/window/control.h"
#include "mpi/window/wait.h"
#include "mpi/window/window.h"

#include <stdint.h>
#include <stdlib.h>

struct remote_request {
    struct lmpi_pending pending;
    uint64_t old;  /* of no use; an answer comes here */
    int completed; /* release: complete_remote; acquire: is_completed */
};

static void complete_remote(void *argument, int status)
{
    struct remote_request *remote = argument;
    remote->pending.status = status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    __atomic_store_n(&remote->completed, 1, __ATOMIC_RELEASE);
}

static bool is_completed(const struct lmpi_pending *pending)
{
    return __atomic_load_n(&((const struct remote_request *)pending)->completed, __ATOMIC_ACQUIRE);
}

/* An operation on a wrong place gives its error at the call. */
int lmpi_request_finish(const struct lmpi_window *window, int status, MPI_Request *request, const char *call)
{
    return status == MPI_SUCCESS ? PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_process.self, request)
                                 : lmpi_error_of(window, status, call);
}

/* It brings data from the target. */
static bool fetches(const struct lmpi_operation *operation)
{
    return operation->what != LMPI_PUT && operation->what != LMPI_ACCUMULATE;
}

static const struct lmpi_peer *peer_of(const struct lmpi_window *window, int rank)
{
    return &(window->parent ? window->parent : window)->peer[rank];
}

/* An operation of several parts, or of none, is complete when a read behind it is. */
static int run_parts(struct lmpi_window *window, const struct lmpi_operation *operation, struct remote_request *remote,
                     struct uccs_op *options)
{
    const struct lmpi_target *target = &window->target[operation->rank];
    const int status = lmpi_run(window, operation, 0);
    options->ordered = options->nonblocking = 1;
    return status != MPI_SUCCESS
               ? status
               : lmpi_class_of(uccs_atomic(target->endpoint, peer_of(window, operation->rank)->memory, LMPI_WORD(lock),
                                           8, UCCS_ATOMIC_FETCH, 0, 0, &remote->old, options));
}

static int start_pending(struct lmpi_window *window, const struct lmpi_operation *operation, MPI_Request *request)
{
    const int rank = operation->rank;
    struct remote_request *remote = calloc(1, sizeof *remote);
    struct uccs_op options = window->op ? *window->op : (struct uccs_op){0};
    if (!remote)
        return lmpi_error_of(window, MPI_ERR_NO_MEM, operation->call);
    remote->pending.is_done = is_completed;
    options.complete = complete_remote;
    options.argument = remote;
    /* Messages to another node are in order; what a process of this node is to execute waits. */
    options.nonblocking = fetches(operation) && !peer_of(window, rank)->control;
    int status = lmpi_is_whole(operation) ? lmpi_run(window, operation, &options)
                                          : run_parts(window, operation, remote, &options);
    if (status != MPI_SUCCESS) {
        free(remote);
        return lmpi_error_of(window, status, operation->call);
    }
    if (!is_completed(&remote->pending) && lmpi_pending_start(&remote->pending, request))
        return MPI_SUCCESS;
    struct lmpi_wait wait lmpi_scoped = {.window = window->parent ? window->parent : window, .rank = rank};
    while (!is_completed(&remote->pending))
        lmpi_pause(&wait);
    status = remote->pending.status;
    free(remote);
    return lmpi_request_finish(window, status, request, operation->call);
}

/* The MPI makes no requests of ours. */
static int run_and_wait(struct lmpi_window *window, const struct lmpi_operation *operation, MPI_Request *request)
{
    uccs_request_t own = UCCS_REQUEST_NULL;
    int status = lmpi_run(window, operation, &(struct uccs_op){.request = &own});
    if (uccs_wait(&own) != UCCS_OK && status == MPI_SUCCESS)
        status = MPI_ERR_RMA_RANGE;
    uccs_request_release(&own);
    return lmpi_request_finish(window, status, request, operation->call);
}

/* Request forms need a passive epoch. */
static bool is_passive(const struct lmpi_window *window, int rank)
{
    return (window->open | window->target[rank].open) & LMPI_PASSIVE;
}

int lmpi_request_start_remote(struct lmpi_window *window, const struct lmpi_operation *operation, MPI_Request *request)
{
    const int rank = operation->rank;
    if (!request)
        return lmpi_error_of(window, MPI_ERR_ARG, operation->call);
    if (rank == MPI_PROC_NULL)
        return lmpi_request_finish(window, MPI_SUCCESS, request, operation->call);
    if (rank < 0 || rank >= window->ranks || (window->of_memhandle && rank != window->rank))
        return lmpi_error_of(window, MPI_ERR_RANK, operation->call);
    if (!is_passive(window, rank))
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, operation->call);
    if (!window->target[rank].local)
        return lmpi_pending_works() ? start_pending(window, operation, request)
                                    : run_and_wait(window, operation, request);
    const int status = lmpi_run(window, operation, 0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return lmpi_request_finish(window, status, request, operation->call);
}

/* Runs, and waits until the program may use its buffers. */
static int run_to_local(struct lmpi_window *window, const struct lmpi_operation *operation)
{
    uccs_request_t local = UCCS_REQUEST_NULL;
    struct uccs_op options;
    (void)lmpi_window_options(window, true, &options);
    options.local = &local;
    int status = lmpi_run(window, operation, &options);
    if (uccs_wait(&local) != UCCS_OK && status == MPI_SUCCESS)
        status = MPI_ERR_RMA_RANGE;
    uccs_request_release(&local);
    return status;
}

int lmpi_request_start(struct lmpi_window *window, const struct lmpi_operation *operation, MPI_Request *request)
{
    const int rank = operation->rank;
    const bool is_rank = rank >= 0 && rank < window->ranks, far = is_rank && !window->target[rank].local;
    if (is_rank && !is_passive(window, rank))
        return lmpi_error_of(window, MPI_ERR_RMA_SYNC, operation->call);
    if (far && fetches(operation) && lmpi_pending_works())
        return lmpi_request_start_remote(window, operation, request);
    struct lmpi_operation run = *operation;
    run.later =
        operation->what == LMPI_ACCUMULATE; /* small operands are copied, and of others the source is free on return */
    const bool moves = operation->what == LMPI_PUT || operation->what == LMPI_GET;
    return lmpi_request_finish(window, far && moves ? run_to_local(window, &run) : lmpi_run(window, &run, 0), request,
                               operation->call);
}
