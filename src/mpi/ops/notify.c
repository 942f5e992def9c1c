/* Notification: MPIX_Put_notify and its kin, and the target's side of it.
 *
 * A rank's notifications are words of a memory of its own. On the node the word rises by an atomic after the data
 * is stored or read (release; acquire in the functions that look at it). An operation to another node carries the word as
 * its signal, so data and notification are one message. */
#include "mpi/ops/operation.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

#include <stdint.h>
#include <stdlib.h>

/* --- The origin's side */

/* Notifies behind an operation of several parts, or of none. */
static int raise_behind(const struct lmpi_target *target, uccs_memory_t memory, size_t at,
                        const struct uccs_op *options)
{
    struct uccs_op op = options ? *options : (struct uccs_op){0};
    op.ordered = 1;
    return lmpi_class_of(uccs_atomic(target->endpoint, memory, at, 8, UCCS_ATOMIC_ADD, 1, 0, 0, &op));
}

int lmpi_notify(struct lmpi_window *window, struct lmpi_operation *operation)
{
    const int rank = operation->rank;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int status = lmpi_check_target(window, rank);
    if (status != MPI_SUCCESS)
        return status;
    const struct lmpi_target *target = &window->target[rank];
    struct lmpi_window *first = lmpi_window_first(window);
    if (operation->id < 0 || (uint32_t)operation->id >= lmpi_peer(first, rank)->ids)
        return MPI_ERR_ARG;
    const struct lmpi_words *notices = lmpi_notices_of(first, rank);
    const size_t at = (size_t)operation->id * sizeof(uint64_t);
    if (!target->local && lmpi_is_whole(operation)) {
        const struct uccs_signal signal = {notices->memory, at, 1, UCCS_SIGNAL_ADD};
        struct uccs_op options = window->op ? *window->op : (struct uccs_op){0};
        options.signal = &signal;
        return lmpi_run(window, operation, &options);
    }
    status = lmpi_run(window, operation, 0);
    if (status == MPI_SUCCESS && target->local)
        __atomic_fetch_add(&notices->near[operation->id], 1,
                           __ATOMIC_RELEASE); /* acquire: the functions below, lmpi_pending_is_done */
    else if (status == MPI_SUCCESS)
        status = raise_behind(target, notices->memory, at, window->op);
    return status;
}

/* --- The target's side */

/* Returns this rank's word of a number, or null when there is none. */
static uint64_t *word_of(struct lmpi_window *window, int id)
{
    struct lmpi_window *first = lmpi_window_first(window);
    if (id < 0 || (uint32_t)id >= lmpi_peer(first, first->rank)->ids)
        return 0;
    return &lmpi_notices_of(first, first->rank)->near[id];
}

static int wait_notify(struct lmpi_window *window, int id, long count, MPI_Request *request)
{
    const struct lmpi_pending wanted = {.word = word_of(window, id),
                                        .least = count,
                                        .owner = lmpi_window_first(window),
                                        .cancels = true};
    if (!wanted.word || !request)
        return MPI_ERR_ARG;
    if (lmpi_pending_is_done(&wanted))
        return lmpi_request_finish(MPI_SUCCESS, request);
    if (!lmpi_pending_works())
        return MPI_ERR_UNSUPPORTED_OPERATION;
    struct lmpi_pending *pending = malloc(sizeof *pending);
    if (pending)
        *pending = wanted;
    if (pending && lmpi_pending_start(pending, request))
        return MPI_SUCCESS;
    free(pending);
    return MPI_ERR_NO_MEM;
}
LMPI_OURS(Win_wait_notify, wait_notify(window, notify_id, count, request), MPI_Win win, int notify_id, long count,
          MPI_Request *request);

static int get_notify(struct lmpi_window *window, int id, long *value)
{
    const uint64_t *word = word_of(window, id);
    if (!word || !value)
        return MPI_ERR_ARG;
    lmpi_before_load();
    *value = (long)__atomic_load_n(word, __ATOMIC_ACQUIRE); /* release: notify, or a signal */
    return MPI_SUCCESS;
}
LMPI_OURS(Win_notify_get_value, get_notify(window, notify_id, value), MPI_Win win, int notify_id, long *value);

static int reset_notify(struct lmpi_window *window, int id, long *value)
{
    uint64_t *word = word_of(window, id);
    if (!word)
        return MPI_ERR_ARG;
    const uint64_t old = __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL); /* acquire: of notify's release */
    if (value)
        *value = (long)old;
    return MPI_SUCCESS;
}
LMPI_OURS(Win_notify_reset, reset_notify(window, notify_id, value), MPI_Win win, int notify_id, long *value);
