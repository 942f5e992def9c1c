/* Memory handles: the exchange of the paper's Figure 6 for every kind of memory, and what must be refused.
 * ranks: 1 2
 * ways: plain far
 * links: layer */
#include "check.h"

#define MPIX_PAPER_NAMES
#include <mpix_rma.h>

enum { WORDS = 8192, BYTES = WORDS * 8 };

static int64_t fixed[WORDS];
static MPI_Win parentwin, other;

/* Each rank exposes memory to the one before it, which writes to it. */
static void exchange(int64_t *base)
{
    char mine[MPI_MAX_MEMORY_HANDLE_SIZE] = {0}, memhandle[MPI_MAX_MEMHANDLE_SIZE] = {0};
    int size = 0, flag, *flavor;
    int64_t one = 1, old = -1, value[4] = {me, me + 1, me + 2, me + 3};
    MPI_Win win;
    MPI_Aint *bytes;
    memset(base, 0, BYTES);
    OK(MPI_Memhandle_create(base, BYTES, MPI_INFO_NULL, parentwin, mine, &size));
    CHECK(size > 0 && size <= MPI_MAX_MEMHANDLE_SIZE);
    MPI_Sendrecv(mine, size, MPI_BYTE, prev_rank, 0, memhandle, sizeof memhandle, MPI_BYTE, next_rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Win_from_memhandle(memhandle, BYTES, 8, MPI_INFO_NULL, next_rank, parentwin, &win));
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPIX_WIN_FLAVOR_MEMHANDLE);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
    CHECK(flag && *bytes == BYTES);
    OK(MPI_Put(value, 4, MPI_INT64_T, next_rank, 100, 4, MPI_INT64_T, win));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, next_rank, 101, MPI_SUM, win));
    OK(MPI_Win_flush_all(win));
    CHECK_EQ(old, me + 1);
    CHECK_EQ(error_class(MPI_Put(value, 4, MPI_INT64_T, next_rank, WORDS - 3, 4, MPI_INT64_T, win)), MPI_ERR_RMA_RANGE);
    OK(MPI_Put(value, 1, MPI_INT64_T, next_rank, WORDS - 1, 1, MPI_INT64_T, win));
    if (ranks > 1)
        CHECK_EQ(error_class(MPI_Put(value, 1, MPI_INT64_T, me, 0, 1, MPI_INT64_T, win)), MPI_ERR_RANK);
    if (ranks > 1)
        CHECK_EQ(error_class(MPI_Win_flush(me, win)), MPI_ERR_RANK);
    CHECK_EQ(error_class(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(error_class(MPI_Win_unlock_all(win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(error_class(MPI_Win_fence(0, win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(error_class(MPI_Win_post(MPI_GROUP_EMPTY, 0, win)), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_free(&win)); /* completes the last put */
    CHECK(win == MPI_WIN_NULL);
    MPI_Sendrecv(0, 0, MPI_BYTE, next_rank, 1, 0, 0, MPI_BYTE, prev_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(base[100], prev_rank);
    CHECK_EQ(base[101], prev_rank + 2);
    CHECK_EQ(base[103], prev_rank + 3);
    CHECK_EQ(base[WORDS - 1], prev_rank);
    OK(MPI_Memhandle_release(mine, parentwin));
    CHECK_EQ(error_class(MPI_Memhandle_release(mine, parentwin)), MPI_ERR_ARG);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(error_class(MPI_Win_from_memhandle(memhandle, BYTES, 8, MPI_INFO_NULL, next_rank, parentwin, &win)),
             MPI_ERR_RMA_ATTACH); /* released */
}

static int make(const void *handle, MPI_Aint size, int unit, int target, MPI_Win parent)
{
    MPI_Win win = MPI_WIN_NULL;
    int status = MPI_Win_from_memhandle(handle, size, unit, MPI_INFO_NULL, target, parent, &win);
    CHECK(status == MPI_SUCCESS || win == MPI_WIN_NULL);
    if (status == MPI_SUCCESS)
        OK(MPI_Win_free(&win));
    return error_class(status);
}

/* Every changed byte, a cut handle, another parent, another rank, too many bytes. */
static void refuse(void)
{
    unsigned char handle[MPI_MAX_MEMHANDLE_SIZE] = {0}, bad[MPI_MAX_MEMHANDLE_SIZE];
    int size;
    OK(MPI_Memhandle_create(fixed, 800, MPI_INFO_NULL, parentwin, handle, &size));
    CHECK_EQ(make(handle, 800, 1, me, parentwin), MPI_SUCCESS);
    for (int i = 0; i < size; i++) {
        memcpy(bad, handle, sizeof bad);
        bad[i] ^= 0x10;
        CHECK_EQ(make(bad, 800, 1, me, parentwin), MPI_ERR_ARG);
        CHECK_EQ(error_class(MPI_Memhandle_release(bad, parentwin)), MPI_ERR_ARG);
    }
    for (int i = 0; i < size; i += 7) {
        memset(bad, 0xEE, sizeof bad);
        memcpy(bad, handle, (size_t)i);
        CHECK_EQ(make(bad, 800, 1, me, parentwin), MPI_ERR_ARG);
    }
    CHECK_EQ(make(handle, 800, 1, me, other), MPI_ERR_ARG);
    CHECK_EQ(make(handle, 801, 1, me, parentwin), MPI_ERR_SIZE);
    CHECK_EQ(make(handle, -1, 1, me, parentwin), MPI_ERR_SIZE);
    CHECK_EQ(make(handle, 800, 0, me, parentwin), MPI_ERR_DISP);
    CHECK_EQ(make(handle, 800, 1, ranks, parentwin), MPI_ERR_RANK);
    CHECK_EQ(make(handle, 800, 1, -1, parentwin), MPI_ERR_RANK);
    CHECK_EQ(error_class(MPI_Memhandle_create(fixed, 0, MPI_INFO_NULL, parentwin, bad, &size)), MPI_ERR_SIZE);
} /* the handle goes with the parent */

/* No operation without a lock of the parent; many windows at once. */
static void many(void)
{
    char handle[MPI_MAX_MEMHANDLE_SIZE] = {0};
    int size;
    int64_t value = 7, *base = malloc(BYTES);
    MPI_Win win[100];
    OK(MPI_Memhandle_create(base, BYTES, MPI_INFO_NULL, parentwin, handle, &size));
    for (int i = 0; i < 100; i++)
        OK(MPI_Win_from_memhandle(handle, BYTES, 8, MPI_INFO_NULL, me, parentwin, &win[i]));
    CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT64_T, me, 0, 1, MPI_INT64_T, win[99])), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, parentwin));
    for (int i = 0; i < 100; i++, value++)
        OK(MPI_Put(&value, 1, MPI_INT64_T, me, i, 1, MPI_INT64_T, win[i]));
    OK(MPI_Win_unlock(me, parentwin)); /* completes them all */
    for (int i = 0; i < 100; i++)
        CHECK_EQ(base[i], 7 + i);
    CHECK_EQ(error_class(MPI_Win_free(&parentwin)), MPI_ERR_RMA_CONFLICT);
    for (int i = 0; i < 100; i++)
        OK(MPI_Win_free(&win[i]));
    OK(MPI_Memhandle_release(handle, parentwin));
    free(base);
}

int main(void)
{
    int64_t *base;
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parentwin));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    MPI_Win_set_errhandler(parentwin, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    OK(MPI_Win_lock_all(0, parentwin));
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &base);
    exchange(base);
    MPI_Free_mem(base);
    base = malloc(BYTES);
    exchange(base);
    free(base);
    exchange(fixed);
    OK(MPI_Win_unlock_all(parentwin));
    many();
    refuse();
    OK(MPI_Win_free(&other));
    OK(MPI_Win_free(&parentwin));
    return check_pass();
}
