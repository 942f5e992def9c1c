/* The parts of epochs.c about notification: of operations, and at the target. */
#ifndef MPI_TEST_EPOCHS_NOTIFY_H
#define MPI_TEST_EPOCHS_NOTIFY_H
#include "epochs_stub.h"

/* ---- the layer's operations and requests ---- */

static int check_status, run_status, signal_status, pending_works, pending_fails;
static struct uccs_op run_op, signal_op;
static struct uccs_signal run_signal;
static struct lmpi_move run_move;
static struct lmpi_update run_update;
static bool run_with_op;
static struct lmpi_pending *pending;

int lmpi_class_of(int status)
{
    return status == UCCS_OK ? MPI_SUCCESS : 9000 - status;
}

int lmpi_check_target(struct lmpi_window *one, int rank)
{
    CHECK(one == &window || one == &copy);
    return rank < 0 || rank >= RANKS ? MPI_ERR_RANK : check_status;
}

bool lmpi_work_is_whole(MPI_Aint count, MPI_Datatype origin, MPI_Datatype other)
{
    CHECK(origin == MPI_INT && other == MPI_FLOAT);
    return count == 1;
}

int lmpi_work_run(struct lmpi_window *one, const struct lmpi_work *work, const struct uccs_op *op)
{
    CHECK((one == &window || one == &copy) && !work->swap && !work->move == (work->update != 0));
    note(RAN, work->rank, work->whole);
    if (work->move)
        run_move = *work->move;
    else
        run_update = *work->update;
    run_with_op = op != 0;
    run_op = op ? *op : (struct uccs_op){0};
    if (op && op->signal)
        run_signal = *op->signal;
    if (peer[work->rank].control) /* the word tells of what is done */
        CHECK_EQ(*(uint64_t *)((char *)control[work->rank] + lmpi_notify_word(RANKS, work->id)), 40);
    return run_status;
}

int lmpi_request_finish(const struct lmpi_window *one, int status, MPI_Request *request)
{
    CHECK(one == &window || one == &copy);
    note(FINISHED, 0, status);
    *request = MPI_REQUEST_NULL;
    return status;
}

bool lmpi_pending_works(void)
{
    return pending_works;
}

bool lmpi_pending_start(struct lmpi_pending *started, MPI_Request *request)
{
    pending = pending_fails ? 0 : started;
    *request = MPI_REQUEST_NULL;
    return !pending_fails;
}

int uccs_atomic(uccs_endpoint_t to, uccs_memory_t held, size_t offset, size_t size, enum uccs_atomic what,
                uint64_t operand, uint64_t compare, void *result, const struct uccs_op *op)
{
    CHECK(held == &memory[to->rank] && size == 8 && what == UCCS_ATOMIC_ADD && operand == 1 && !compare && !result);
    note(SIGNALLED, to->rank, (int)offset);
    signal_op = *op;
    return signal_status;
}

/* ---- the origin ---- */

static const int buffer[4];

static uint64_t *word_at(int rank, int id)
{
    return (uint64_t *)((char *)control[rank] + lmpi_notify_word(RANKS, id));
}

static int put_notify(int rank, int count, int id, MPI_Win win)
{
    return MPIX_Put_notify(buffer, count, MPI_INT, rank, 5, count + 1, MPI_FLOAT, id, win);
}

static int get_notify(int rank, int count, int id, MPI_Win win)
{
    return MPIX_Get_notify((void *)(intptr_t)buffer, count, MPI_INT, rank, 5, count + 1, MPI_FLOAT, id, win);
}

static int add_notify(int rank, int count, int id, MPI_Win win)
{
    return MPIX_Accumulate_notify(buffer, count, MPI_INT, rank, 5, count + 1, MPI_FLOAT, MPI_SUM, id, win);
}

static void check_work(int which, int rank, int count)
{
    if (which == 2) {
        CHECK(run_update.origin.address == (char *)(intptr_t)buffer && run_update.origin.count == count &&
              run_update.origin.type == MPI_INT);
        CHECK(run_update.rank == rank && run_update.disp == 5 && run_update.count == count + 1 &&
              run_update.type == MPI_FLOAT);
        CHECK(run_update.op == MPI_SUM && !run_update.fetch && !run_update.result.address);
        return;
    }
    CHECK(run_move.origin == (char *)(intptr_t)buffer && run_move.origin_count == count &&
          run_move.origin_type == MPI_INT);
    CHECK(run_move.rank == rank && run_move.disp == 5 && run_move.target_count == count + 1 &&
          run_move.target_type == MPI_FLOAT);
    CHECK_EQ(run_move.put, which == 0);
}

/* Of this node the word rises behind the operation; to another one it goes along as a signal, or behind operations of parts. */
static void notified(int which, int rank, int id, MPI_Win win)
{
    int (*const calls[])(int, int, int, MPI_Win) = {put_notify, get_notify, add_notify};
    const struct uccs_op of_window = {.weight = 66};
    for (int count = 1; count < 3; count++) {
        *word_at(rank, id) = 40;
        copy.op = window.op = id ? &of_window : 0;
        OK(calls[which](rank, count, id, win));
        NEXT(RAN, rank, count == 1);
        check_work(which, rank, count);
        CHECK_EQ(*word_at(rank, id), rank < FAR ? 41 : 40);
        if (rank >= FAR && count == 1) {
            CHECK(run_with_op && run_op.signal && run_op.weight == (id ? 66 : 0) && !run_op.ordered);
            CHECK(run_signal.memory == &memory[rank] && run_signal.offset == lmpi_notify_word(RANKS, id));
            CHECK(run_signal.value == 1 && run_signal.how == UCCS_SIGNAL_ADD);
        } else {
            CHECK(!run_with_op);
        }
        if (rank >= FAR && count != 1) {
            NEXT(SIGNALLED, rank, (int)lmpi_notify_word(RANKS, id));
            CHECK(signal_op.ordered == 1 && signal_op.weight == (id ? 66 : 0) && !signal_op.signal);
        }
        NO_MORE();
        *word_at(rank, id) = 40;
        run_status = MPI_ERR_RMA_RANGE; /* what has not been done is not told */
        FAILS(calls[which](rank, count, id, win), MPI_ERR_RMA_RANGE);
        CHECK(happened == 1 && *word_at(rank, id) == 40);
        run_status = MPI_SUCCESS;
        start_over();
    }
}

static void origins(void)
{
    const int wrong[] = {3, 4, -1, -2, 65536, 65537, INT_MAX, INT_MIN};
    reset();
    for (int which = 0; which < 3; which++)
        for (int rank = 0; rank < RANKS; rank++) {
            notified(which, rank, 0, WIN(OURS));
            notified(which, rank, 2, WIN(COPY));
            for (int i = 0; i < 8; i++)
                FAILS(put_notify(rank, 1, wrong[i], WIN(OURS)), MPI_ERR_ARG);
        }
    peer[FAR].ids = 5; /* each rank has as many as it wants */
    OK(put_notify(FAR, 1, 4, WIN(OURS)));
    start_over();
    signal_status = UCCS_ERR_STALE;
    FAILS(put_notify(FAR, 2, 0, WIN(OURS)), 9000 - UCCS_ERR_STALE);
    signal_status = UCCS_OK;
    start_over();
    OK(put_notify(MPI_PROC_NULL, 1, 99, WIN(OURS)));
    FAILS(put_notify(RANKS, 1, 0, WIN(OURS)), MPI_ERR_RANK);
    check_status = MPI_ERR_RMA_SYNC;
    FAILS(get_notify(NEAR, 1, 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    FAILS(add_notify(FAR, 1, 0, WIN(OURS)), MPI_ERR_RMA_SYNC);
    check_status = MPI_SUCCESS;
    CHECK(put_notify(NEAR, 1, 0, WIN(9)) == MPI_ERR_WIN && get_notify(NEAR, 1, 0, WIN(9)) == MPI_ERR_WIN);
    CHECK_EQ(add_notify(NEAR, 1, 0, WIN(9)), MPI_ERR_WIN);
    NO_MORE();
}

/* ---- the target ---- */

static void awaits(int id, int64_t has, long count, MPI_Win win)
{
    MPI_Request request;
    *word_at(ME, id) = (uint64_t)has;
    pending = 0;
    OK(MPIX_Win_wait_notify(win, id, count, &request));
    if (has >= count) {
        NEXT(FINISHED, 0, MPI_SUCCESS);
        CHECK(!pending);
        return;
    }
    CHECK(pending && pending->owner == &window && pending->cancels && !pending->status && !pending->look(pending));
    for (int64_t value = has; value < count; value++) {
        *word_at(ME, id) = (uint64_t)value;
        CHECK(!pending->look(pending));
    }
    *word_at(ME, id) = (uint64_t)count;
    CHECK(pending->look(pending));
    *word_at(ME, id) = (uint64_t)count + 1;
    CHECK(pending->look(pending));
    free(pending);
    NO_MORE();
}

static void waits_of_targets(void)
{
    MPI_Request request;
    reset();
    pending_works = 1;
    for (int turn = 0; turn < 2; turn++) {
        awaits(0, 0, 0, WIN(turn ? COPY : OURS));
        awaits(0, 0, 1, WIN(turn ? COPY : OURS));
        awaits(2, 5, 5, WIN(turn ? COPY : OURS));
        awaits(2, 6, 5, WIN(turn ? COPY : OURS));
        awaits(2, 4, 7, WIN(turn ? COPY : OURS));
    }
    *word_at(ME, 1) = 4;
    pending_fails = 1;
    FAILS(MPIX_Win_wait_notify(WIN(OURS), 1, 5, &request), MPI_ERR_NO_MEM);
    pending_works = 0; /* the MPI has no way to look */
    FAILS(MPIX_Win_wait_notify(WIN(OURS), 1, 5, &request), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPIX_Win_wait_notify(WIN(OURS), 1, 4, &request));
    pending_fails = 0;
    CHECK_EQ(MPIX_Win_wait_notify(WIN(9), 1, 4, &request), MPI_ERR_WIN);
}

static void values(void)
{
    const int wrong[] = {3, -1, 65536, 65537, INT_MAX};
    MPI_Request request;
    long value = -1;
    reset();
    for (int id = 0; id < 3; id++) {
        *word_at(ME, id) = 90 + (uint64_t)id;
        lmpi_fence_is_due = true;
        OK(MPIX_Win_notify_get_value(WIN(id ? OURS : COPY), id, &value));
        CHECK(value == 90 + id && !lmpi_fence_is_due);
        OK(MPIX_Win_notify_reset(WIN(id ? OURS : COPY), id, &value));
        CHECK(value == 90 + id && *word_at(ME, id) == 0);
        *word_at(ME, id) = 7;
        OK(MPIX_Win_notify_reset(WIN(OURS), id, 0));
        CHECK_EQ(*word_at(ME, id), 0);
    }
    value = -1;
    for (int i = 0; i < 5; i++) {
        FAILS(MPIX_Win_notify_get_value(WIN(OURS), wrong[i], &value), MPI_ERR_ARG);
        FAILS(MPIX_Win_notify_reset(WIN(OURS), wrong[i], &value), MPI_ERR_ARG);
        FAILS(MPIX_Win_wait_notify(WIN(OURS), wrong[i], 1, &request), MPI_ERR_ARG);
    }
    CHECK_EQ(MPIX_Win_notify_get_value(WIN(9), 0, &value), MPI_ERR_WIN);
    CHECK_EQ(MPIX_Win_notify_reset(WIN(9), 0, &value), MPI_ERR_WIN);
    CHECK_EQ(value, -1);
}

#endif
