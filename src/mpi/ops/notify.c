/* Notification: MPIX_Put_notify and its kin, and the target's side of it.
 *
 * A rank's notifications are words behind the words of its control. On the node the word rises by an atomic after the data
 * is stored or read (release; acquire in the functions that look at it). An operation to another node carries the word as
 * its signal, so data and notification are one message. */
#include "mpi/ops/accumulate.h"
#include "mpi/ops/pending.h"
#include "mpi/ops/request.h"
#include "mpi/ops/rma.h"
#include "mpi/window/completion.h"
#include "mpi/window/control.h"
#include "mpi/window/window.h"
#include "mpix_rma.h"

#include <stdint.h>
#include <stdlib.h>

/* --- The origin's side */

static struct lmpi_window *first_of(struct lmpi_window *window)
{
    return window->parent ? window->parent : window;
}

/* Notifies behind an operation of several parts, or of none. */
static int tell_behind(const struct lmpi_target *target, const struct lmpi_peer *peer, size_t at,
                       const struct uccs_op *way)
{
    struct uccs_op op = way ? *way : (struct uccs_op){0};
    op.ordered = 1;
    return lmpi_class_of(uccs_atomic(target->endpoint, peer->memory, at, 8, UCCS_ATOMIC_ADD, 1, 0, 0, &op));
}

/* Returns an error class. */
static int notify(struct lmpi_window *window, const struct lmpi_work *work)
{
    if (work->rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int status = lmpi_check_target(window, work->rank);
    if (status != MPI_SUCCESS)
        return status;
    const struct lmpi_target *target = &window->target[work->rank];
    const struct lmpi_peer *peer = &first_of(window)->peer[work->rank];
    if (work->id < 0 || (uint32_t)work->id >= peer->ids)
        return MPI_ERR_ARG;
    size_t at = lmpi_notify_word(window->ranks, work->id);
    if (target->local) {
        status = lmpi_work_run(window, work, 0);
        if (status == MPI_SUCCESS)
            __atomic_fetch_add((uint64_t *)((char *)peer->control + at), 1, __ATOMIC_RELEASE); /* acquire: look */
        return status;
    }
    if (!work->whole) {
        status = lmpi_work_run(window, work, 0);
        return status == MPI_SUCCESS ? tell_behind(target, peer, at, window->op) : status;
    }
    const struct uccs_signal signal = {peer->memory, at, 1, UCCS_SIGNAL_ADD};
    struct uccs_op op = window->op ? *window->op : (struct uccs_op){0};
    op.signal = &signal;
    return lmpi_work_run(window, work, &op);
}

static int start(struct lmpi_window *window, const struct lmpi_work *work)
{
    int status = notify(window, work);
    return status == MPI_SUCCESS ? status : lmpi_error_of(window, status, work->call);
}

int MPIX_Put_notify(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                    int target_count, MPI_Datatype target_type, int notify_id, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_move move = {(char *)origin, origin_count, origin_type, rank, disp,
                             target_count,   target_type,  true,        0,    false};
    return window
               ? start(window, &(struct lmpi_work){.call = __func__,
                                                   .move = &move,
                                                   .rank = rank,
                                                   .id = notify_id,
                                                   .whole = lmpi_work_is_whole(origin_count, origin_type, target_type)})
               : MPI_ERR_WIN;
}

int MPIX_Get_notify(void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp, int target_count,
                    MPI_Datatype target_type, int notify_id, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_move move = {origin, origin_count, origin_type, rank, disp, target_count, target_type, false, 0, false};
    return window
               ? start(window, &(struct lmpi_work){.call = __func__,
                                                   .move = &move,
                                                   .rank = rank,
                                                   .id = notify_id,
                                                   .whole = lmpi_work_is_whole(origin_count, origin_type, target_type)})
               : MPI_ERR_WIN;
}

int MPIX_Accumulate_notify(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                           int target_count, MPI_Datatype target_type, MPI_Op op, int notify_id, MPI_Win win)
{
    struct lmpi_window *window = lmpi_window(win);
    struct lmpi_update update = {.origin = {(char *)origin, origin_count, origin_type},
                                 .rank = rank,
                                 .disp = disp,
                                 .count = target_count,
                                 .type = target_type,
                                 .op = op};
    return window
               ? start(window, &(struct lmpi_work){.call = __func__,
                                                   .update = &update,
                                                   .rank = rank,
                                                   .id = notify_id,
                                                   .whole = lmpi_work_is_whole(origin_count, origin_type, target_type)})
               : MPI_ERR_WIN;
}

/* --- The target's side */

struct awaited {
    struct lmpi_pending pending;
    const int64_t *word;
    int64_t count;
};

/* Returns this rank's word of a number, or null when there is none. */
static int64_t *word_of(struct lmpi_window *window, int id)
{
    const struct lmpi_window *first = first_of(window);
    const struct lmpi_peer *own = &first->peer[first->rank];
    if (id < 0 || (uint32_t)id >= own->ids)
        return 0;
    return (int64_t *)((char *)own->control + lmpi_notify_word(first->ranks, id));
}

static bool look(const struct lmpi_pending *pending)
{
    const struct awaited *awaited = (const struct awaited *)pending;
    return __atomic_load_n(awaited->word, __ATOMIC_ACQUIRE) >= awaited->count; /* release: notify, or a signal */
}

int MPIX_Win_wait_notify(MPI_Win win, int notify_id, long count, MPI_Request *request)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return MPI_ERR_WIN;
    const struct awaited wanted = {{.look = look, .owner = first_of(window), .cancels = true},
                                   word_of(window, notify_id),
                                   count};
    if (!wanted.word || !request)
        return lmpi_error(window, MPI_ERR_ARG);
    if (look(&wanted.pending))
        return lmpi_request_finish(window, MPI_SUCCESS, request, __func__);
    if (!lmpi_pending_works())
        return lmpi_error(window, MPI_ERR_UNSUPPORTED_OPERATION);
    struct awaited *awaited = malloc(sizeof *awaited);
    if (awaited)
        *awaited = wanted;
    if (awaited && lmpi_pending_start(&awaited->pending, request))
        return MPI_SUCCESS;
    free(awaited);
    return lmpi_error(window, MPI_ERR_NO_MEM);
}

int MPIX_Win_notify_get_value(MPI_Win win, int notify_id, long *value)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return MPI_ERR_WIN;
    const int64_t *word = word_of(window, notify_id);
    if (!word || !value)
        return lmpi_error(window, MPI_ERR_ARG);
    lmpi_before_load();
    *value = __atomic_load_n(word, __ATOMIC_ACQUIRE); /* release: notify, or a signal */
    return MPI_SUCCESS;
}

int MPIX_Win_notify_reset(MPI_Win win, int notify_id, long *value)
{
    struct lmpi_window *window = lmpi_window(win);
    if (!window)
        return MPI_ERR_WIN;
    int64_t *word = word_of(window, notify_id);
    if (!word)
        return lmpi_error(window, MPI_ERR_ARG);
    int64_t old = __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL); /* acquire: of notify's release */
    if (value)
        *value = old;
    return MPI_SUCCESS;
}
