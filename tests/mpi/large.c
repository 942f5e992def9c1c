/* The large-count forms of MPI 4: each moves the right data, and counts over INT_MAX are taken as a whole. One piece of 2 MiB
 * is mapped again and again to make buffers of more bytes than an int counts.
 * ranks: 2
 * ways: plain far */
#include "check.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#if MPI_VERSION >= 4
enum { N = 100 };
static const MPI_Count huge = (MPI_Count)INT_MAX + 11; /* as an int it is negative */
static const MPI_Count wraps = (1ll << 32) + 3;        /* as an int it is 3 */

static void fill(int64_t *to, int64_t first)
{
    for (int i = 0; i < N; i++)
        to[i] = first + i;
}

static void expect(const int64_t *at, int64_t first, int64_t step)
{
    for (int i = 0; i < N; i++)
        CHECK_EQ(at[i], first + step * i);
}

/* Every form, with counts that an int holds, and a derived type on one side. */
static void small_counts(MPI_Win win, int64_t *base)
{
    int64_t from[N], back[N], old[N];
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Datatype all;
    OK(MPI_Type_contiguous(N, MPI_INT64_T, &all));
    OK(MPI_Type_commit(&all));
    fill(from, 1000 * me);
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put_c(from, N, MPI_INT64_T, next_rank, 0, 1, all, win));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Get_c(back, 1, all, next_rank, 0, N, MPI_INT64_T, win));
    OK(MPI_Win_flush(next_rank, win));
    expect(back, 1000 * me, 1);
    OK(MPI_Accumulate_c(from, 1, all, next_rank, 0, N, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Get_accumulate_c(from, N, MPI_INT64_T, old, 1, all, next_rank, 0, N, MPI_INT64_T, MPI_SUM, win));
    OK(MPI_Win_flush(next_rank, win));
    expect(old, 2000 * me, 2);
    OK(MPI_Raccumulate_c(from, N, MPI_INT64_T, next_rank, 0, 1, all, MPI_SUM, win, &request[0]));
    OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    OK(MPI_Rget_accumulate_c(from, 1, all, old, N, MPI_INT64_T, next_rank, 0, N, MPI_INT64_T, MPI_SUM, win,
                             &request[0]));
    OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    expect(old, 4000 * me, 4);
    OK(MPI_Rput_c(from, N, MPI_INT64_T, next_rank, N, N, MPI_INT64_T, win, &request[0]));
    OK(MPI_Rget_c(back, N, MPI_INT64_T, next_rank, 0, N, MPI_INT64_T, win, &request[1]));
    OK(MPI_Waitall(2, request, status));
    expect(back, 5000 * me, 5);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    expect(base, 5000 * prev_rank, 5);
    expect(base + N, 1000 * prev_rank, 1);
    MPI_Type_free(&all);
}

/* A count that is cut to an int would fit the window. */
static void beyond(MPI_Win win)
{
    int64_t word[3] = {0}, old[3];
    MPI_Request request;
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, win));
#define OUTSIDE(call) CHECK_EQ(error_class(call), MPI_ERR_RMA_RANGE)
    OUTSIDE(MPI_Put_c(word, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T, win));
    OUTSIDE(MPI_Get_c(word, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T, win));
    OUTSIDE(MPI_Rput_c(word, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T, win, &request));
    OUTSIDE(MPI_Rget_c(word, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T, win, &request));
    OUTSIDE(MPI_Accumulate_c(word, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T, MPI_SUM, win));
    OUTSIDE(MPI_Raccumulate_c(word, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T, MPI_SUM, win, &request));
    OUTSIDE(MPI_Get_accumulate_c(word, wraps, MPI_INT64_T, old, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T,
                                 MPI_SUM, win));
    OUTSIDE(MPI_Rget_accumulate_c(word, wraps, MPI_INT64_T, old, wraps, MPI_INT64_T, next_rank, 0, wraps, MPI_INT64_T,
                                  MPI_SUM, win, &request));
    OK(MPI_Win_unlock_all(win));
}

/* Returns at least `bytes` bytes of address space, all of which are the same 2 MiB. */
static char *repeated(size_t bytes)
{
    const size_t piece = 2 << 20;
    int file = memfd_create("large", 0);
    CHECK(file >= 0 && ftruncate(file, piece) == 0);
    char *all = mmap(0, bytes + piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED);
    for (size_t at = 0; at < bytes; at += piece)
        CHECK(mmap(all + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
    close(file);
    return all;
}

/* More than INT_MAX elements there and back. The last bytes tell. */
static void huge_counts(void)
{
    MPI_Win win;
    MPI_Request request;
    char *window = repeated((size_t)huge), *buffer = repeated((size_t)huge), tail[11] = "the end...";
    const size_t last = (size_t)huge - sizeof tail;
    OK(MPI_Win_create_c(window, huge, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_lock_all(0, win));
    if (me == 0) {
        memcpy(buffer + last, tail, sizeof tail);
        OK(MPI_Put_c(buffer, huge, MPI_BYTE, 1, 0, huge, MPI_BYTE, win));
        OK(MPI_Win_flush(1, win));
        memset(buffer + last, 0, sizeof tail);
        OK(MPI_Rget_c(buffer, huge, MPI_BYTE, 1, 0, huge, MPI_BYTE, win, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(memcmp(buffer + last, tail, sizeof tail) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(me != 1 || memcmp(window + last, tail, sizeof tail) == 0);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

static void windows(void)
{
    MPI_Win win;
    MPI_Aint size, unit;
    int64_t *base, *theirs;
    OK(MPI_Win_allocate_c(2 * N * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    small_counts(win, base);
    beyond(win);
    OK(MPI_Win_shared_query_c(win, me, &size, &unit, &theirs));
    CHECK_EQ(size, 2 * N * sizeof *base);
    CHECK_EQ(unit, sizeof *base);
    OK(MPI_Win_free(&win));
}

static void shared(void)
{
    MPI_Win win;
    MPI_Aint size, unit;
    int64_t *base, *theirs;
    OK(MPI_Win_allocate_shared_c(2 * N * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_shared_query_c(win, next_rank, &size, &unit, &theirs));
    CHECK_EQ(size, 2 * N * sizeof *base);
    CHECK_EQ(unit, sizeof *base);
    OK(MPI_Win_fence(0, win));
    theirs[5] = 50 + me;
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(base[5], 50 + prev_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    small_counts(win, base);
    OK(MPI_Win_free(&win));
}
#endif

int main(int argc, char **argv)
{
    check_start(MPI_THREAD_SINGLE);
#if MPI_VERSION >= 4
    bool far = argc > 1 && strncmp(argv[1], "far", 3) == 0;
    windows();
    if (!far) { /* two gigabytes over a pretended network take seconds, and its nodes share no memory */
        shared();
        huge_counts();
    }
#else
    (void)argc, (void)argv; /* this MPI has none of them */
#endif
    return check_pass();
}
