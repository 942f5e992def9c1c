/* Requests of operations. What this node does is complete when the call returns; so is its request: a send to nobody, which costs a few
 * nanoseconds. So is MPI's request of a put or an accumulate to another node: the call waits until the substrate has copied or sent the
 * source, and small ones leave together. Another operation to another node has a request that its completion function completes.
 * MPI_Wait and its kin need not be ours. */
#include "mpi/core/process.h"
#include "mpi/ops/operation.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"

#include <stdint.h>
#include <stdlib.h>

struct remote_request {
    struct lmpi_pending pending;
    uint64_t old;       /* of no use; an answer comes here */
    uint64_t completed; /* 1; release: complete_remote; acquire: lmpi_pending_is_done, lmpi_await */
};

static void complete_remote(void *argument, int status)
{
    struct remote_request *remote = argument;
    remote->pending.status = status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
    __atomic_store_n(&remote->completed, 1, __ATOMIC_RELEASE);
}

/* An operation on a wrong place gives its error at the call. */
int lmpi_request_finish(int status, MPI_Request *request)
{
    return status == MPI_SUCCESS ? PMPI_Isend(0, 0, MPI_BYTE, MPI_PROC_NULL, 0, lmpi_process.self, request) : status;
}

/* An operation of several parts, or of none, is complete when a read behind it is. */
static int run_parts(struct lmpi_window *window, struct lmpi_operation *operation, struct remote_request *remote,
                     struct uccs_op *options)
{
    const struct lmpi_target *target = &window->target[operation->rank];
    const struct lmpi_peer *peer = &lmpi_window_first(window)->peer[operation->rank];
    const int status = lmpi_run(window, operation, 0);
    options->ordered = options->nonblocking = 1;
    return status != MPI_SUCCESS ? status
                                 : lmpi_class_of(uccs_atomic(target->endpoint, peer->memory, peer->at + LMPI_WORD(lock),
                                                             8, UCCS_ATOMIC_FETCH, 0, 0, &remote->old, options));
}

static int start_pending(struct lmpi_window *window, struct lmpi_operation *operation, MPI_Request *request)
{
    const int rank = operation->rank;
    struct remote_request *remote = calloc(1, sizeof *remote);
    struct uccs_op options = window->op ? *window->op : (struct uccs_op){0};
    if (!remote)
        return MPI_ERR_NO_MEM;
    remote->pending.word = &remote->completed;
    remote->pending.least = 1;
    options.complete = complete_remote;
    options.argument = remote;
    /* Messages to another node are in order; what a process of this node is to execute waits. */
    options.nonblocking = lmpi_fetches(operation) && !lmpi_window_first(window)->peer[rank].control;
    int status = lmpi_is_whole(operation) ? lmpi_run(window, operation, &options)
                                          : run_parts(window, operation, remote, &options);
    if (status != MPI_SUCCESS) {
        free(remote);
        return status;
    }
    if (!lmpi_pending_is_done(&remote->pending) && lmpi_pending_start(&remote->pending, request))
        return MPI_SUCCESS;
    lmpi_await(&remote->completed, 1, lmpi_window_first(window), rank);
    status = remote->pending.status;
    free(remote);
    return lmpi_request_finish(status, request);
}

/* Runs, and waits until it is complete at the target (`remote`: the MPI makes no requests of ours), or until the program may use its
 * buffers. */
static int run_and_wait(struct lmpi_window *window, struct lmpi_operation *operation, bool remote)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    struct uccs_op options = window->op && !remote ? *window->op : (struct uccs_op){0};
    options.nonblocking = !remote;
    *(remote ? &options.request : &options.local) = &request;
    int status = lmpi_run(window, operation, &options);
    if (uccs_wait(&request) != UCCS_OK && status == MPI_SUCCESS)
        status = MPI_ERR_RMA_RANGE;
    uccs_request_release(&request);
    return status;
}

/* Returns an error class: request forms need a place for the request, a rank and a passive epoch. */
static int check_form(struct lmpi_window *window, struct lmpi_operation *operation, const MPI_Request *request)
{
    const int rank = operation->rank;
    if (!request)
        return MPI_ERR_ARG;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank < 0 || rank >= window->ranks || (window->of_memhandle && rank != window->rank))
        return MPI_ERR_RANK;
    return (window->open | lmpi_target(window, rank)->open) & LMPI_PASSIVE ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

int lmpi_request_start(struct lmpi_window *window, struct lmpi_operation *operation, bool remote, MPI_Request *request)
{
    int status = check_form(window, operation, request);
    if (status != MPI_SUCCESS || operation->rank == MPI_PROC_NULL)
        return lmpi_request_finish(status, request);
    const bool far = !window->target[operation->rank].local, updates = operation->what == LMPI_ACCUMULATE;
    if (far && (remote || lmpi_fetches(operation)) && lmpi_pending_works())
        return start_pending(window, operation, request);
    operation->later = updates && !remote; /* small operands are copied, and of others the source is free on return */
    status = far && (remote || operation->what == LMPI_PUT || operation->what == LMPI_GET)
                 ? run_and_wait(window, operation, remote)
                 : lmpi_run(window, operation, 0);
    if (remote)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return lmpi_request_finish(status, request);
}
