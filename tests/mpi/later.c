/* Operations to another node may be under way when their calls return. flush_local frees the program's buffers, flush
 * completes the operations of one target, and operations on one word of one target act in the order of their issue.
 * ranks: 2 4
 * ways: plain far */
#include "check.h"

enum { MANY = 300, LONG = 20000 };

static MPI_Win win;
static int64_t *base;

static int64_t stamp(int round, int i)
{
    return ((int64_t)round << 40) + ((int64_t)me << 32) + i;
}

/* The source changes after flush_local; the target sees what it was. */
static void sources(void)
{
    static int64_t source[LONG];
    for (int round = 1; round < 4; round++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, win));
        for (int i = 0; i < LONG; i++)
            source[i] = stamp(round, i);
        for (int i = 0; i < MANY; i++)
            OK(MPI_Put(&source[i], 1, MPI_INT64_T, next_rank, i, 1, MPI_INT64_T, win));
        OK(MPI_Put(&source[MANY], LONG - MANY, MPI_INT64_T, next_rank, MANY, LONG - MANY, MPI_INT64_T, win));
        if (round & 1)
            OK(MPI_Win_flush_local(next_rank, win));
        else
            OK(MPI_Win_flush_local_all(win));
        memset(source, 0xff, sizeof source);
        OK(MPI_Win_unlock(next_rank, win));
        MPI_Barrier(MPI_COMM_WORLD);
        int wrong = 0;
        for (int i = 0; i < LONG; i++)
            wrong += base[i] != ((int64_t)round << 40) + ((int64_t)prev_rank << 32) + i;
        CHECK_EQ(wrong, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Fills got[0] to got[99] by gets that have requests, one word each, and all again in one get of words that lie apart. */
static void by_requests(int64_t *got)
{
    MPI_Request requests[101];
    MPI_Datatype apart;
    MPI_Type_vector(50, 1, 2, MPI_INT64_T, &apart);
    MPI_Type_commit(&apart);
    memset(got, 0xff, 100 * sizeof *got);
    for (int i = 0; i < 100; i++)
        OK(MPI_Rget(&got[i], 1, MPI_INT64_T, next_rank, i, 1, MPI_INT64_T, win, &requests[i]));
    OK(MPI_Waitall(100, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Rget(got, 1, apart, next_rank, 0, 1, apart, win, &requests[0]));
    for (int done = 0; !done;)
        OK(MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Type_free(&apart);
}

/* The source of an accumulate may change when its request is complete, whatever its size. */
static void accumulates(void)
{
    static int64_t source[LONG];
    MPI_Request requests[MANY + 1];
    memset(base, 0, LONG * sizeof *base);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < LONG; i++)
        source[i] = i;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Raccumulate(&source[i], 2, MPI_INT64_T, next_rank, i, 2, MPI_INT64_T, MPI_SUM, win, &requests[i]));
    OK(MPI_Raccumulate(source, LONG, MPI_INT64_T, next_rank, 0, LONG, MPI_INT64_T, MPI_SUM, win, &requests[MANY]));
    OK(MPI_Waitall(MANY + 1, requests, MPI_STATUSES_IGNORE));
    memset(source, 0xff, sizeof source);
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < LONG; i++)
        wrong += base[i] != i * (1 + (i < MANY) + (i > 0 && i <= MANY));
    CHECK_EQ(wrong, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Gets, fetches and swaps bring their data by flush_local. */
static void results(void)
{
    static int64_t got[LONG];
    int64_t old[MANY], one = 1, three = 3, seen[3] = {-1, -1, -1};
    for (int i = 0; i < LONG; i++)
        base[i] = stamp(9, i);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < MANY; i++)
        OK(MPI_Get(&got[i], 1, MPI_INT64_T, next_rank, i, 1, MPI_INT64_T, win));
    OK(MPI_Get(&got[MANY], LONG - MANY, MPI_INT64_T, next_rank, MANY, LONG - MANY, MPI_INT64_T, win));
    OK(MPI_Win_flush_local(next_rank, win));
    int wrong = 0;
    by_requests(got);
    for (int i = 0; i < LONG; i++)
        wrong += got[i] != ((int64_t)9 << 40) + ((int64_t)next_rank << 32) + i;
    CHECK_EQ(wrong, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    base[0] = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        OK(MPI_Fetch_and_op(&one, &old[i], MPI_INT64_T, next_rank, 0, MPI_SUM, win));
    OK(MPI_Compare_and_swap(&one, &three, &seen[0], MPI_INT64_T, next_rank, 0, win));
    OK(MPI_Get_accumulate(&three, 1, MPI_INT64_T, &seen[1], 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, MPI_REPLACE,
                          win));
    OK(MPI_Compare_and_swap(&one, &three, &seen[2], MPI_INT64_T, next_rank, 0, win));
    OK(MPI_Win_flush_local_all(win));
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(old[i], i);
    CHECK_EQ(seen[0], MANY);
    CHECK_EQ(seen[1], MANY);
    CHECK_EQ(seen[2], 3);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(base[0], 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A short accumulate comes after the long one that was issued before it, and a flush of one target leaves others alone. */
static void order(void)
{
    static int64_t ones[LONG];
    const int64_t zero = 0;
    for (int i = 0; i < LONG; i++)
        ones[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    for (int round = 0; round < 5; round++) {
        for (int rank = 0; rank < ranks; rank++) {
            OK(MPI_Accumulate(&zero, 1, MPI_INT64_T, rank, LONG * (me + 1), 1, MPI_INT64_T, MPI_REPLACE, win));
            OK(MPI_Accumulate(ones, LONG, MPI_INT64_T, rank, LONG * (me + 1), LONG, MPI_INT64_T, MPI_SUM, win));
            OK(MPI_Accumulate(ones, 1, MPI_INT64_T, rank, LONG * (me + 1) + LONG - 1, 1, MPI_INT64_T, MPI_REPLACE,
                              win));
        }
        for (int rank = 0; rank < ranks; rank++) {
            int64_t ends[2] = {-1, -1};
            OK(MPI_Win_flush(rank, win));
            OK(MPI_Get(&ends[0], 1, MPI_INT64_T, rank, LONG * (me + 1), 1, MPI_INT64_T, win));
            OK(MPI_Get(&ends[1], 1, MPI_INT64_T, rank, LONG * (me + 1) + LONG - 1, 1, MPI_INT64_T, win));
            OK(MPI_Win_flush(rank, win));
            CHECK_EQ(ends[0], 1);
            CHECK_EQ(ends[1], 1);
        }
    }
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate((MPI_Aint)LONG * (ranks + 1) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    memset(base, 0, (size_t)LONG * (size_t)(ranks + 1) * 8);
    MPI_Barrier(MPI_COMM_WORLD);
    sources();
    accumulates();
    results();
    order();
    OK(MPI_Win_free(&win));
    return check_pass();
}
