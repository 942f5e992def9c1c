/* Arguments and states just inside and just outside of what a call takes: places, ranks, counts, types, epochs that exclude each other,
 * hints. The class is the standard's, and what is inside moves the bytes.
 * ranks: 2
 * ways: plain far */
#include "check.h"

#include <limits.h>
#include <stdbool.h>

enum { WORDS = 100 };

static int handled;
static MPI_Win win;
static int64_t *base, one = 1, word[8], old[8];

static void handler(MPI_Win *which, int *code, ...)
{
    (void)which;
    handled = error_class(*code);
}

#define GIVES(class, call) gives(class, call, __LINE__)

static void gives(int class, int code, int line)
{
    check_equal(error_class(code), class, __FILE__, line, "the class that the call returns");
    check_equal(handled, class, __FILE__, line, "the class that the handler gets");
    handled = MPI_SUCCESS;
}

static void make(MPI_Aint bytes, int unit)
{
    static MPI_Errhandler errors = MPI_ERRHANDLER_NULL;
    if (errors == MPI_ERRHANDLER_NULL)
        OK(MPI_Win_create_errhandler(handler, &errors));
    OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_set_errhandler(win, errors));
    memset(base, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- places ---- */

static int wait_for(int status, MPI_Request *request)
{
    return status == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : status;
}

enum { CALLS = 11 };

/* One of the calls on one element of a type of 8 or 4 bytes. */
static int call(int which, MPI_Datatype type, int rank, MPI_Aint disp)
{
    MPI_Request request;
    switch (which) {
    case 0: return MPI_Put(&one, 1, type, rank, disp, 1, type, win);
    case 1: return MPI_Get(old, 1, type, rank, disp, 1, type, win);
    case 2: return MPI_Accumulate(&one, 1, type, rank, disp, 1, type, MPI_SUM, win);
    case 3: return MPI_Get_accumulate(&one, 1, type, old, 1, type, rank, disp, 1, type, MPI_SUM, win);
    case 4: return MPI_Fetch_and_op(&one, old, type, rank, disp, MPI_SUM, win);
    case 5: return MPI_Fetch_and_op(&one, old, type, rank, disp, MPI_MAX, win);
    case 6: return MPI_Compare_and_swap(&one, &one, old, type, rank, disp, win);
    case 7: return wait_for(MPI_Rput(&one, 1, type, rank, disp, 1, type, win, &request), &request);
    case 8: return wait_for(MPI_Rget(old, 1, type, rank, disp, 1, type, win, &request), &request);
    case 9: return wait_for(MPI_Raccumulate(&one, 1, type, rank, disp, 1, type, MPI_SUM, win, &request), &request);
    }
    return wait_for(MPI_Rget_accumulate(&one, 1, type, old, 1, type, rank, disp, 1, type, MPI_SUM, win, &request),
                    &request);
}

/* `unit` of displacements; `last`: the last one that fits. */
static void places(MPI_Aint bytes, int unit, MPI_Datatype type, MPI_Aint last)
{
    const MPI_Aint most = PTRDIFF_MAX;
    make(bytes, unit);
    OK(MPI_Win_lock_all(0, win));
    for (int turn = 0; turn < 2; turn++) /* what a thread finds the first time it keeps */
        for (int which = 0; which < CALLS; which++) {
            OK(call(which, type, next_rank, 0));
            memset(old, 0xff, sizeof old);
            OK(call(which, type, next_rank, last));
            OK(MPI_Win_flush(next_rank, win));
            if (which == 1) /* what the put before it has put, and no more */
                CHECK_EQ(old[0], type == MPI_INT64_T ? 1 : 1 - (1L << 32));
            GIVES(MPI_ERR_RMA_RANGE, call(which, type, next_rank, last + 1));
            GIVES(MPI_ERR_RMA_RANGE, call(which, type, next_rank, bytes / unit + 1));
            GIVES(MPI_ERR_RMA_RANGE, call(which, type, next_rank, most / unit));
            GIVES(MPI_ERR_RMA_RANGE, call(which, type, next_rank, 1L << 32));
            GIVES(MPI_ERR_DISP, call(which, type, next_rank, -1));
            GIVES(MPI_ERR_DISP, call(which, type, next_rank, -most - 1));
            if (unit > 1)
                GIVES(MPI_ERR_DISP, call(which, type, next_rank, most / unit + 1));
            if (unit > 1)
                GIVES(MPI_ERR_DISP, call(which, type, next_rank, most));
            GIVES(MPI_ERR_RANK, call(which, type, ranks, 0));
            GIVES(MPI_ERR_RANK, call(which, type, -77, 0));
            OK(call(which, type, MPI_PROC_NULL, -5));
        }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

/* Data that begins before the displacement, and data of no bytes. */
static void spans(void)
{
    MPI_Datatype before, empty;
    const int length = 1;
    const MPI_Aint at = -8;
    OK(MPI_Type_create_hindexed(1, &length, &at, MPI_INT64_T, &before));
    OK(MPI_Type_commit(&before));
    OK(MPI_Type_contiguous(0, MPI_INT64_T, &empty));
    OK(MPI_Type_commit(&empty));
    make(WORDS * 8, 8);
    OK(MPI_Win_lock_all(0, win));
    word[0] = 5;
    OK(MPI_Put(word, 1, MPI_INT64_T, next_rank, 1, 1, before, win));
    OK(MPI_Put(word, 1, MPI_INT64_T, next_rank, WORDS, 1, before, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(word, 1, MPI_INT64_T, next_rank, 0, 1, before, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(word, 1, MPI_INT64_T, next_rank, WORDS + 1, 1, before, win));
    OK(MPI_Put(word + 1, 1, before, next_rank, 1, 1, MPI_INT64_T, win));
    OK(MPI_Put(word, 0, MPI_INT64_T, next_rank, WORDS + 7, 0, MPI_INT64_T, win));
    OK(MPI_Put(word, 3, empty, next_rank, WORDS + 7, 2, empty, win));
    OK(MPI_Put(word, 0, MPI_INT64_T, next_rank, 0, 2, empty, win));
    OK(MPI_Accumulate(word, 0, MPI_INT64_T, next_rank, WORDS + 7, 0, MPI_INT64_T, MPI_SUM, win));
    GIVES(MPI_ERR_DISP, MPI_Put(word, 0, MPI_INT64_T, next_rank, -1, 0, MPI_INT64_T, win));
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(base[0] == 5 && base[1] == 5 && base[WORDS - 1] == 5 && base[2] == 0 && base[WORDS - 2] == 0);
    OK(MPI_Win_free(&win));
    OK(MPI_Type_free(&before));
    OK(MPI_Type_free(&empty));
}

/* ---- sides ---- */

static int update(int from, MPI_Datatype source, int to, MPI_Datatype result, int n, MPI_Datatype type, MPI_Op op)
{
    return MPI_Get_accumulate(word, from, source, old, to, result, next_rank, 0, n, type, op, win);
}

static void sides(void)
{
    MPI_Datatype pair, mixed, raw;
    const int lengths[] = {1, 1};
    const MPI_Aint at[] = {0, 8};
    const MPI_Datatype parts[] = {MPI_INT64_T, MPI_DOUBLE};
    OK(MPI_Type_contiguous(2, MPI_INT64_T, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_create_struct(2, lengths, at, parts, &mixed));
    OK(MPI_Type_commit(&mixed));
    OK(MPI_Type_contiguous(2, MPI_INT64_T, &raw)); /* not committed */
    make(WORDS * 8, 8);
    OK(MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_COUNT, MPI_Put(word, -1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, win));
    GIVES(MPI_ERR_COUNT, MPI_Put(word, 1, MPI_INT64_T, next_rank, 0, -1, MPI_INT64_T, win));
    GIVES(MPI_ERR_TYPE, MPI_Put(word, 1, MPI_INT64_T, next_rank, 0, 1, MPI_DATATYPE_NULL, win));
    GIVES(MPI_ERR_TYPE, MPI_Put(word, 0, MPI_DATATYPE_NULL, next_rank, 0, 0, MPI_INT64_T, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Put(word, 1, MPI_INT64_T, next_rank, 0, 2, MPI_INT64_T, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Get(word, 1, MPI_INT64_T, next_rank, 0, 2, MPI_INT64_T, win));
    GIVES(MPI_ERR_TRUNCATE, MPI_Get(word, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT32_T, win));
    OK(MPI_Get(word, 1, MPI_INT64_T, next_rank, 0, 2, MPI_INT32_T, win));
    OK(update(2, MPI_INT64_T, 1, pair, 2, MPI_INT64_T, MPI_SUM));
    OK(update(1, pair, 2, MPI_INT64_T, 1, pair, MPI_SUM));
    OK(update(-1, MPI_DATATYPE_NULL, 2, MPI_INT64_T, 1, pair, MPI_NO_OP)); /* which reads no origin */
    GIVES(MPI_ERR_TYPE, update(1, MPI_DOUBLE, 1, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(1, MPI_INT64_T, 1, MPI_DOUBLE, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(1, MPI_UINT64_T, 1, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(2, MPI_INT32_T, 1, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(1, MPI_INT64_T, 2, MPI_INT32_T, 1, MPI_INT64_T, MPI_NO_OP));
    GIVES(MPI_ERR_TYPE, update(1, raw, 2, MPI_INT64_T, 2, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(2, MPI_INT64_T, 1, raw, 2, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(2, MPI_INT64_T, 2, MPI_INT64_T, 1, raw, MPI_SUM));
    GIVES(MPI_ERR_TYPE, update(1, mixed, 1, mixed, 1, mixed, MPI_SUM));
    OK(update(1, mixed, 1, mixed, 1, mixed, MPI_REPLACE));
    GIVES(MPI_ERR_COUNT, update(-1, MPI_INT64_T, 1, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_COUNT, update(1, MPI_INT64_T, -1, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_COUNT, update(1, MPI_INT64_T, 1, MPI_INT64_T, -1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TRUNCATE, update(2, MPI_INT64_T, 1, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_TRUNCATE, update(1, MPI_INT64_T, 2, MPI_INT64_T, 1, MPI_INT64_T, MPI_SUM));
    GIVES(MPI_ERR_OP, MPI_Accumulate(word, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, MPI_NO_OP, win));
    GIVES(MPI_ERR_OP, update(1, MPI_DOUBLE, 1, MPI_DOUBLE, 1, MPI_DOUBLE, MPI_BOR));
    OK(update(0, MPI_DOUBLE, 0, MPI_DOUBLE, 0, MPI_DOUBLE, MPI_BOR)); /* no element */
    GIVES(MPI_ERR_TYPE, MPI_Fetch_and_op(word, old, MPI_DATATYPE_NULL, next_rank, 0, MPI_SUM, win));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(word, word, old, MPI_DATATYPE_NULL, next_rank, 0, win));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(word, word, old, MPI_DOUBLE_INT, next_rank, 0, win));
    GIVES(MPI_ERR_TYPE, MPI_Compare_and_swap(word, word, old, pair, next_rank, 0, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&mixed));
    OK(MPI_Type_free(&raw));
}

/* ---- epochs ---- */

/* What no other access epoch may begin beside: locks of any rank, of all, a start. */
static void excluded(MPI_Group everybody)
{
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_start(everybody, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
}

static void count_up(int times)
{
    for (int i = 0; i < times; i++) {
        int64_t now = 0;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Get(&now, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
        OK(MPI_Win_flush(0, win));
        now++;
        OK(MPI_Put(&now, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
        OK(MPI_Win_unlock(0, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void locks(MPI_Group everybody)
{
    const int types[] = {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE};
    make(WORDS * 8, 8);
    for (int i = 0; i < 8; i++) {
        const int rank = i & 1 ? next_rank : me, assert = i & 4 ? MPI_MODE_NOCHECK : 0;
        const int type = assert || rank == me ? types[i >> 1 & 1] : MPI_LOCK_SHARED;
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank, win));
        OK(MPI_Win_lock(type, rank, assert, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(types[0], rank, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(types[1], rank, MPI_MODE_NOCHECK, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(1 - rank, win));
        GIVES(MPI_ERR_RMA_SYNC, call(i, MPI_INT64_T, 1 - rank, 0));
        excluded(everybody);
        OK(call(i, MPI_INT64_T, rank, 0));
        OK(MPI_Win_unlock(rank, win));
        GIVES(MPI_ERR_RMA_SYNC, call(i, MPI_INT64_T, rank, 0));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
    base[0] = 0;
    OK(MPI_Win_unlock(me, win));
    MPI_Barrier(MPI_COMM_WORLD); /* else the other rank counts on from what was there before */
    count_up(20);                /* the locks are whole */
    if (me == 0)
        CHECK_EQ(base[0], 40);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int assert = 0; assert < 2; assert++) {
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
        OK(MPI_Win_lock_all(assert ? MPI_MODE_NOCHECK : 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_post(everybody, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_unlock(next_rank, win));
        excluded(everybody);
        OK(call(0, MPI_INT64_T, next_rank, 3));
        OK(MPI_Win_flush_all(win));
        OK(MPI_Win_unlock_all(win));
        GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, next_rank, 3));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    count_up(20);
    if (me == 0)
        CHECK_EQ(base[0], 80);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    for (int rank = 0; rank < 2; rank++) {
        const int wrong = rank ? ranks : -77;
        GIVES(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, wrong, 0, win));
        GIVES(MPI_ERR_RANK, MPI_Win_unlock(wrong, win));
    }
    GIVES(MPI_ERR_LOCKTYPE, MPI_Win_lock(12345, me, 0, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, me, MPI_MODE_NOPUT, win));
    GIVES(MPI_ERR_ASSERT, MPI_Win_lock_all(MPI_MODE_NOSTORE, win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* A fence opens an epoch to all, until another one ends it or says that none follows. */
static void fences(void)
{
    make(WORDS * 8, 8);
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, win));
    OK(call(0, MPI_INT64_T, next_rank, 0));
    OK(MPI_Win_fence(MPI_MODE_NOPUT, win));
    OK(call(0, MPI_INT64_T, next_rank, 0));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, next_rank, 0));
    GIVES(MPI_ERR_ASSERT, MPI_Win_fence(MPI_MODE_NOCHECK, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win)); /* which ends it */
    GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, next_rank, 0));
    OK(call(0, MPI_INT64_T, me, 0));
    OK(MPI_Win_unlock(me, win));
    GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, me, 0));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

static void posts(MPI_Group everybody, MPI_Group nobody)
{
    MPI_Group next, self;
    int flag, ranks_of_next[] = {next_rank}, ranks_of_self[] = {me};
    OK(MPI_Group_incl(everybody, 1, ranks_of_next, &next));
    OK(MPI_Group_incl(everybody, 1, ranks_of_self, &self));
    make(WORDS * 8, 8);
    for (int turn = 0; turn < 3; turn++) {
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
        GIVES(MPI_ERR_ASSERT, MPI_Win_post(next, MPI_MODE_NOSUCCEED, win));
        GIVES(MPI_ERR_ASSERT, MPI_Win_start(next, MPI_MODE_NOPUT, win));
        OK(MPI_Win_fence(0, win));
        OK(MPI_Win_post(next, turn ? MPI_MODE_NOSTORE | MPI_MODE_NOPUT : 0, win));
        GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, next_rank, 0));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_post(next, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_test(win, &flag));
        CHECK_EQ(flag, 0); /* nobody has completed */
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_start(next, turn == 2 ? MPI_MODE_NOCHECK : 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_start(next, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win));
        GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
        GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, me, 0));
        word[0] = 10 * turn + me;
        OK(MPI_Put(word, 1, MPI_INT64_T, next_rank, turn, 1, MPI_INT64_T, win));
        OK(MPI_Win_complete(win));
        GIVES(MPI_ERR_RMA_SYNC, call(0, MPI_INT64_T, next_rank, 0));
        if (turn == 1)
            OK(MPI_Win_wait(win));
        else
            for (flag = 0; !flag;)
                OK(MPI_Win_test(win, &flag));
        CHECK_EQ(base[turn], 10 * turn + prev_rank);
    }
    GIVES(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
    OK(MPI_Win_post(nobody, 0, win));
    OK(MPI_Win_test(win, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Win_start(nobody, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    GIVES(MPI_ERR_RMA_SYNC, MPI_Win_start(self, 0, win));
    OK(MPI_Win_unlock(me, win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_EQ(error_class(MPI_Win_post(next, 0, win)), MPI_ERR_GROUP); /* it is not of the window */
    CHECK_EQ(error_class(MPI_Win_start(everybody, 0, win)), MPI_ERR_GROUP);
    OK(MPI_Win_post(self, 0, win));
    OK(MPI_Win_start(self, 0, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&next));
    OK(MPI_Group_free(&self));
}

/* ---- hints ---- */

static void check_hint(const char *key, const char *value)
{
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag));
    OK(MPI_Info_free(&info));
    CHECK_EQ(flag, 1);
    if (strcmp(text, value) != 0)
        check_bad(__FILE__, __LINE__, key, atoll(text), atoll(value));
}

static void set_hint(const char *key, const char *value)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
}

static void hints(void)
{
    const struct {
        const char *key, *first, *second;
    } rows[] = {{"no_locks", "false", "true"},
                {"accumulate_ordering", "rar,raw,war,waw", "none"},
                {"accumulate_ops", "same_op_no_op", "same_op"},
                {"mpi_accumulate_granularity", "0", "8"},
                {"mpi_assert_accumulate_intrinsic", "false", "true"},
                {"same_size", "false", "true"},
                {"same_disp_unit", "false", "true"}};
    make(WORDS * 8, 8);
    for (int i = 0; i < 7; i++)
        check_hint(rows[i].key, rows[i].first);
    for (int i = 0; i < 7; i++) {
        set_hint(rows[i].key, rows[i].second);
        for (int j = 0; j < 7; j++)
            check_hint(rows[j].key, j <= i ? rows[j].second : rows[j].first);
    }
    GIVES(MPI_ERR_INFO, MPI_Win_set_info(win, MPI_INFO_NULL));
    OK(MPI_Win_free(&win));
}

/* The scope and the order by either name; words that are none change nothing. */
static void kinds(void)
{
    const struct {
        const char *key, *value;
        bool thread, ordered;
    } rows[] = {{"mine", "true", false, false},
                {"mpi_win_scope", "thread", true, false},
                {"mpi_win_order", "true", true, true},
                {"mpi_win_scope", "nobody", true, true},
                {"mpi_win_order", "maybe", true, true},
                {"mpi_win_scope", "process", false, true},
                {"mpi_win_scope_thread", "true", true, true},
                {"mpi_win_ordered", "false", true, false},
                {"mpi_win_scope_thread", "thread", true, false},
                {"mpi_win_scope_thread", "false", false, false},
                {"mpi_win_ordered", "true", false, true},
                {"mpi_win_order", "false", false, false}};
    make(WORDS * 8, 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_hint(rows[i].key, rows[i].value);
        check_hint("mpi_win_scope", rows[i].thread ? "thread" : "process");
        check_hint("mpi_win_scope_thread", rows[i].thread ? "true" : "false");
        check_hint("mpi_win_order", rows[i].ordered ? "true" : "false");
        check_hint("mpi_win_ordered", rows[i].ordered ? "true" : "false");
        OK(MPI_Win_lock_all(0, win));
        OK(call(0, MPI_INT64_T, next_rank, 0));
        OK(call(2, MPI_INT64_T, next_rank, 0));
        OK(MPI_Win_unlock_all(win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* How many notifications a window has. */
static void numbers(void)
{
    const char *const rows[][2] =
        {{"0", "0"},    {"1", "1"},     {"77", "77"},           {"-1", "1024"},        {"", ""},
         {"x", "1024"}, {"5x", "1024"}, {"2147483648", "1024"}, {"4294967299", "1024"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MPI_Info info;
        if (!*rows[i][0])
            continue;
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "mpi_win_notify_ids", rows[i][0]));
        OK(MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &base, &win));
        OK(MPI_Info_free(&info));
        check_hint("mpi_win_notify_ids", rows[i][1]);
        OK(MPI_Win_free(&win));
    }
    make(8, 8);
    check_hint("mpi_win_notify_ids", "1024");
    OK(MPI_Win_free(&win));
}

int main(void)
{
    MPI_Group everybody, nobody = MPI_GROUP_EMPTY;
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    places(WORDS * 8, 8, MPI_INT64_T, WORDS - 1);
    places(WORDS * 8 + 5, 1, MPI_INT32_T, WORDS * 8 + 1);
    places(36, 12, MPI_INT32_T, 2);
    places(50, 3, MPI_INT64_T, 14);
    spans();
    sides();
    locks(everybody);
    fences();
    posts(everybody, nobody);
    hints();
    kinds();
    numbers();
    OK(MPI_Group_free(&everybody));
    return check_pass();
}
