/* The parts of operating.c about requests of operations: MPI's, and those that complete at the target. */
#ifndef MPI_TEST_OPERATING_REQUESTS_H
#define MPI_TEST_OPERATING_REQUESTS_H
#include "operating_updates.h"

static MPI_Request request;

/* The request is complete already. */
static void is_complete(int before)
{
    int flag = 0;
    CHECK_EQ(isends, before + 1);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
}

/* The request waits until the operation has arrived, and then has this status. */
static void completes_later(int starts, int status)
{
    CHECK(pending_starts == starts + 1 && pending && !pending->look(pending));
    CHECK(arrival_argument == pending);
    arrival(arrival_argument, status);
    CHECK(pending->look(pending) && pending->status == (status == UCCS_OK ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
    free(pending);
    pending = 0;
}

#define DONE(call)                      \
    do {                                \
        const int made_before = isends; \
        OK(call);                       \
        is_complete(made_before);       \
    } while (0)
#define LATER(call, status)                     \
    do {                                        \
        const int made_before = pending_starts; \
        OK(call);                               \
        completes_later(made_before, status);   \
    } while (0)

static int rput(int rank, MPI_Datatype type)
{
    return layer_Rput(buffer, 1, type, rank, 0, 1, type, WIN(OURS), &request);
}

static int rget(int rank, MPI_Datatype type)
{
    return layer_Rget(buffer, 1, type, rank, 0, 1, type, WIN(OURS), &request);
}

static int radd(int rank, MPI_Datatype type)
{
    return layer_Raccumulate(buffer, 1, type, rank, 0, 1, type, MPI_SUM, WIN(OURS), &request);
}

static int rfetch(int rank, MPI_Datatype type)
{
    return layer_Rget_accumulate(buffer, 1, type, old, 1, type, rank, 0, 1, type, MPI_SUM, WIN(OURS), &request);
}

/* Of this node each is complete at once; of another one, what goes there is when its buffer is free, and what comes from there is when it
 * has come. */
static void request_forms(void)
{
    int (*const calls[])(int, MPI_Datatype) = {rput, radd, rget, rfetch};
    MPI_Datatype gaps = vector_of(2, 1, 3, MPI_INT);
    for (int i = 0; i < 4; i++) {
        reset();
        for (int rank = 0; rank < RANKS; rank++) {
            window.open = LMPI_OPEN_FENCE;
            FAILS(calls[i](rank, MPI_INT), MPI_ERR_RMA_SYNC); /* they need a passive epoch */
            target[rank].open = LMPI_OPEN_STARTED;
            FAILS(calls[i](rank, MPI_INT), MPI_ERR_RMA_SYNC);
            target[rank].open = LMPI_OPEN_SHARED;
            if (rank == FAR && i >= 2)
                LATER(calls[i](rank, MPI_INT), UCCS_OK);
            else
                DONE(calls[i](rank, MPI_INT));
            CHECK(i != 2 || memcmp(there[rank] + AT, buffer, 4) == 0);
            target[rank].open = 0;
        }
        window.open = LMPI_OPEN_LOCK_ALL;
        DONE(calls[i](ME, MPI_INT));
        DONE(calls[i](MPI_PROC_NULL, MPI_INT));
        FAILS(calls[i](RANKS, MPI_INT), MPI_ERR_RANK);
        FAILS(calls[i](-77, MPI_INT), MPI_ERR_RANK);
        FAILS(calls[i](KERNEL, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
        if (i >= 2) {
            LATER(calls[i](FAR, MPI_INT), UCCS_ERR_FAILED);
            CHECK(asked.op.nonblocking && asked.op.complete == arrived);
            LATER(calls[i](FAR, gaps), UCCS_OK); /* of parts: a read behind them has come */
            CHECK(asked.what == UCCS_ATOMIC_FETCH && asked.op.ordered && asked.op.nonblocking && asked.with_result &&
                  asked.offset == LMPI_WORD(lock));
            pending_works = 0; /* no request can wait: the call does */
            DONE(calls[i](FAR, MPI_INT));
        }
    }
    OK(MPI_Type_free(&gaps));
}

/* A put waits for its buffer alone; an accumulate has copied it. */
static void buffers(void)
{
    reset();
    window.open = LMPI_OPEN_LOCK_ALL;
    DONE(rput(FAR, MPI_INT));
    CHECK(waits == 1 && asked.op.local && asked.op.nonblocking && !asked.op.request && !asked.op.complete);
    wait_status = UCCS_ERR_FAILED;
    FAILS(rput(FAR, MPI_INT), MPI_ERR_RMA_RANGE);
    fails_after = 0;
    status_of_next = UCCS_ERR_STALE;
    FAILS(rput(FAR, MPI_INT), CLASS_OF(UCCS_ERR_STALE));
    CHECK_EQ(waits, 3);
    wait_status = UCCS_OK;
    DONE(rput(NEAR, MPI_INT));
    DONE(rput(KERNEL, MPI_INT));
    FAILS(rput(RANKS, MPI_INT), MPI_ERR_RANK);
    CHECK_EQ(waits, 3);
    DONE(radd(FAR, MPI_INT));
    CHECK(waits == 3 && asked.op.nonblocking);
    pending_works = 0;
    DONE(rfetch(FAR, MPI_INT));
    CHECK(!asked.op.nonblocking && waits == 3);
    DONE(rget(FAR, MPI_INT));
    CHECK(waits == 4 && releases == 4);
}

static int real_rmove(void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n, MPI_Datatype other,
                      MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return real_move(origin, count, type, rank, disp, n, other, win) + 10;
}

static int real_rput(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                     MPI_Datatype other, MPI_Win win, MPI_Request *made)
{
    return real_rmove((void *)(intptr_t)origin, count, type, rank, disp, n, other, win, made) + 1;
}

static int real_rupdate(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                        MPI_Datatype other, MPI_Op op, MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return real_update(origin, count, type, rank, disp, n, other, op, win) + 10;
}

static int real_rfetch(const void *origin, int count, MPI_Datatype type, void *result, int m, MPI_Datatype result_type,
                       int rank, MPI_Aint disp, int n, MPI_Datatype other, MPI_Op op, MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return real_fetch_update(origin, count, type, result, m, result_type, rank, disp, n, other, op, win) + 10;
}

static void foreign_requests(void)
{
    reset();
    lmpi_real.Rput = real_rput;
    lmpi_real.Rget = real_rmove;
    lmpi_real.Raccumulate = real_rupdate;
    lmpi_real.Rget_accumulate = real_rfetch;
    CHECK_EQ(layer_Rput(buffer, 3, MPI_INT, 2, 5, 12, MPI_CHAR, WIN(9), &request), 81);
    CHECK_EQ(layer_Rget(buffer, 3, MPI_INT, 2, 5, 12, MPI_CHAR, WIN(9), &request), 80);
    CHECK_EQ(layer_Raccumulate(buffer, 3, MPI_INT, 2, 5, 12, MPI_CHAR, MPI_SUM, WIN(9), &request), 82);
    CHECK_EQ(layer_Rget_accumulate(buffer, 3, MPI_INT, old, 6, MPI_SHORT, 2, 5, 12, MPI_CHAR, MPI_SUM, WIN(9),
                                   &request),
             83);
    CHECK_EQ(MPIX_Rrput(buffer, 1, MPI_INT, 0, 0, 1, MPI_INT, WIN(9), &request), MPI_ERR_WIN);
    CHECK_EQ(MPIX_Rraccumulate(buffer, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, WIN(9), &request), MPI_ERR_WIN);
    CHECK_EQ(MPIX_Rrfetch_and_op(buffer, old, MPI_INT, 0, 0, MPI_SUM, WIN(9), &request), MPI_ERR_WIN);
    CHECK_EQ(MPIX_Rrcompare_and_swap(buffer, buffer, old, MPI_INT, 0, 0, WIN(9), &request), MPI_ERR_WIN);
}

/* ---- requests that complete at the target ---- */

static int rrput(int rank, MPI_Datatype type)
{
    return MPIX_Rrput(buffer, 1, type, rank, 0, 1, type, WIN(OURS), &request);
}

static int rradd(int rank, MPI_Datatype type)
{
    return MPIX_Rraccumulate(buffer, 1, type, rank, 0, 1, type, MPI_SUM, WIN(OURS), &request);
}

static int rrfetch(int rank, MPI_Datatype type)
{
    return MPIX_Rrget_accumulate(buffer, 1, type, old, 1, type, rank, 0, 1, type, MPI_SUM, WIN(OURS), &request);
}

static int rrswap(int rank, MPI_Datatype type)
{
    return MPIX_Rrcompare_and_swap(buffer, buffer + 8, old, type, rank, 0, WIN(OURS), &request);
}

static void at_target(void)
{
    int (*const calls[])(int, MPI_Datatype) = {rrput, rradd, rrfetch, rrswap};
    for (int i = 0; i < 4; i++) {
        const bool brings_back = i >= 2;
        reset();
        window.open = LMPI_OPEN_LOCK_ALL;
        for (int rank = 0; rank < FAR; rank++) {
            fences_made = 0;
            DONE(calls[i](rank, MPI_INT));
            CHECK_EQ(fences_made, 1);
        }
        CHECK_EQ(pending_starts, 0);
        LATER(calls[i](FAR, MPI_INT), UCCS_OK);
        CHECK(asked.op.nonblocking == brings_back && asked.op.complete == arrived && !asked.op.request);
        LATER(calls[i](FAR, MPI_INT), UCCS_ERR_FAILED);
        arrives_at_once = true; /* within the call */
        DONE(calls[i](FAR, MPI_INT));
        CHECK_EQ(pending_starts, 2);
        arrives_at_once = false;
        pending_fails = true; /* the MPI makes no such request: the call waits */
        DONE(calls[i](FAR, MPI_INT));
        CHECK_EQ(pending_starts, 3);
        fails_after = 0;
        status_of_next = UCCS_ERR_STALE;
        FAILS(calls[i](FAR, MPI_INT), CLASS_OF(UCCS_ERR_STALE));
        CHECK_EQ(pending_starts, 3);
        pending_works = 0;
        DONE(calls[i](FAR, MPI_INT));
        CHECK(waits == 1 && releases == 1 && asked.op.request && !asked.op.nonblocking && !asked.op.complete);
        wait_status = UCCS_ERR_FAILED;
        FAILS(calls[i](FAR, MPI_INT), MPI_ERR_RMA_RANGE);
        fails_after = 0;
        FAILS(calls[i](FAR, MPI_INT), CLASS_OF(UCCS_ERR_STALE));
        DONE(calls[i](MPI_PROC_NULL, MPI_INT));
        FAILS(calls[i](RANKS, MPI_INT), MPI_ERR_RANK);
        FAILS(calls[i](-77, MPI_INT), MPI_ERR_RANK);
        window.open = LMPI_OPEN_FENCE;
        FAILS(calls[i](NEAR, MPI_INT), MPI_ERR_RMA_SYNC);
        target[NEAR].open = LMPI_OPEN_STARTED;
        FAILS(calls[i](NEAR, MPI_INT), MPI_ERR_RMA_SYNC);
        target[NEAR].open = LMPI_OPEN_EXCLUSIVE;
        DONE(calls[i](NEAR, MPI_INT));
    }
}

/* An operation of parts, or of none, is complete when a read behind it is. That read goes along the window's way. */
static void parts_at_target(void)
{
    const struct uccs_op of_window = {.weight = 77};
    MPI_Datatype gaps = vector_of(2, 1, 3, MPI_INT);
    reset();
    window.open = LMPI_OPEN_LOCK_ALL;
    window.op = &of_window;
    LATER(rrput(FAR, gaps), UCCS_OK);
    CHECK(asked.what == UCCS_ATOMIC_FETCH && asked.op.ordered && asked.op.nonblocking && asked.op.weight == 77 &&
          asked.op.complete == arrived);
    start_over();
    LATER(MPIX_Rrput(buffer, 0, MPI_INT, FAR, 0, 0, MPI_INT, WIN(OURS), &request), UCCS_OK);
    NEXT(ATOMIC, FAR, 8);
    NO_MORE();
    LATER(MPIX_Rrget_accumulate(buffer, 1, gaps, old, 2, MPI_INT, FAR, 0, 2, MPI_INT, MPI_SUM, WIN(OURS), &request),
          UCCS_OK);
    CHECK(asked.what == UCCS_ATOMIC_FETCH && events[happened - 1].what == ATOMIC);
    start_over();
    LATER(MPIX_Rrget_accumulate(0, 0, gaps, old, 2, MPI_INT, FAR, 0, 2, MPI_INT, MPI_NO_OP, WIN(OURS), &request),
          UCCS_OK);
    NEXT(UPDATED, FAR, 8); /* the origin does not count */
    NO_MORE();
    fails_after = 0; /* the read, or the operation before it */
    status_of_next = UCCS_ERR_STALE;
    FAILS(MPIX_Rrput(buffer, 0, MPI_INT, FAR, 0, 0, MPI_INT, WIN(OURS), &request), CLASS_OF(UCCS_ERR_STALE));
    fails_after = 0;
    start_over();
    FAILS(rrput(FAR, gaps), CLASS_OF(UCCS_ERR_STALE));
    CHECK_EQ(happened, 1);
    OK(MPI_Type_free(&gaps));
}

/* A fetch is whole when its result is, and its origin where that counts. */
static void parts_of_fetches(void)
{
    MPI_Datatype gaps = vector_of(2, 1, 3, MPI_INT);
    reset();
    window.open = LMPI_OPEN_LOCK_ALL;
    const struct {
        MPI_Datatype origin, result;
        MPI_Op op;
        bool whole;
    } rows[] = {{MPI_INT, MPI_INT, MPI_SUM, true}, {gaps, MPI_INT, MPI_SUM, false}, {MPI_INT, gaps, MPI_SUM, false},
                {gaps, MPI_INT, MPI_NO_OP, true},  {gaps, gaps, MPI_NO_OP, false},  {MPI_INT, gaps, MPI_NO_OP, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int n = rows[i].origin == gaps ? 1 : 2, m = rows[i].result == gaps ? 1 : 2;
        LATER(layer_Rget_accumulate(buffer, n, rows[i].origin, old, m, rows[i].result, FAR, 0, 2, MPI_INT, rows[i].op,
                                    WIN(OURS), &request),
              UCCS_OK);
        CHECK_EQ(events[happened - 1].what, rows[i].whole ? UPDATED : ATOMIC);
        LATER(MPIX_Rrget_accumulate(buffer, n, rows[i].origin, old, m, rows[i].result, FAR, 0, 2, MPI_INT, rows[i].op,
                                    WIN(OURS), &request),
              UCCS_OK);
        CHECK_EQ(events[happened - 1].what, rows[i].whole ? UPDATED : ATOMIC);
    }
    OK(MPI_Type_free(&gaps));
}

/* The first rank may be of another node. */
static void first_is_far(void)
{
    reset();
    window.open = LMPI_OPEN_LOCK_ALL;
    target[NEAR].near = 0;
    target[NEAR].local = target[NEAR].direct = 0;
    peer[NEAR].control = 0;
    LATER(rget(NEAR, MPI_INT), UCCS_OK);
    LATER(rfetch(NEAR, MPI_INT), UCCS_OK);
    LATER(rrput(NEAR, MPI_INT), UCCS_OK);
    DONE(rput(NEAR, MPI_INT));
    CHECK(waits == 1 && asked.op.local);
}

/* The words by which ranks meet may lie on this node where the memory does not: then the call waits. */
static void words_near(void)
{
    reset();
    window.open = LMPI_OPEN_LOCK_ALL;
    peer[FAR].control = (struct lmpi_control *)control[FAR];
    LATER(rrfetch(FAR, MPI_INT), UCCS_OK);
    CHECK_EQ(asked.op.nonblocking, 0);
    part.open = LMPI_OPEN_LOCK_ALL; /* of a memory handle */
    FAILS(MPIX_Rrput(buffer, 1, MPI_INT, KERNEL, 0, 1, MPI_INT, WIN(PART), &request), MPI_ERR_RANK);
    DONE(MPIX_Rrput(buffer, 1, MPI_INT, NEAR, 0, 1, MPI_INT, WIN(PART), &request));
    twin.open = LMPI_OPEN_LOCK_ALL; /* a duplicate waits for its parent's ranks */
    pending_fails = true;
    DONE(MPIX_Rrput(buffer, 1, MPI_INT, FAR, 0, 1, MPI_INT, WIN(COPY), &request));
}

/* ---- which operations are whole ---- */

static void whole(void)
{
    MPI_Datatype gaps = vector_of(2, 1, 3, MPI_INT), none = vector_of(0, 1, 1, MPI_INT);
    const struct {
        MPI_Aint count;
        MPI_Datatype one, other;
        bool is;
    } rows[] = {{1, MPI_INT, MPI_INT, true},
                {9, MPI_INT, MPI_CHAR, true},
                {0, MPI_INT, MPI_INT, false},
                {-1, MPI_INT, MPI_INT, false},
                {1, gaps, MPI_INT, false},
                {1, MPI_INT, gaps, false},
                {1, none, MPI_INT, false},
                {1, MPI_INT, none, false},
                {1, MPI_DATATYPE_NULL, MPI_INT, false},
                {1, MPI_INT, MPI_DATATYPE_NULL, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(lmpi_work_is_whole(rows[i].count, rows[i].one, rows[i].other), rows[i].is);
    OK(MPI_Type_free(&gaps));
    OK(MPI_Type_free(&none));
}

#endif
