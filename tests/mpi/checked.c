/* What LATERAL_CHECK makes of broken promises, and of memory handles that are used after their release; without it such a
 * use changes nothing that the owner has got since.
 * ways: plain check
 * ranks: 2
 * links: layer */
#include "check.h"

#include <mpix_rma.h>
#include <stdbool.h>

enum { WORDS = 1 << 16, BYTES = WORDS * 8 };

static bool checked;

/* Sums of integers are intrinsic on a node, of doubles not. */
static void promise(void)
{
    int64_t one = 1, old, *base;
    double real = 1;
    int32_t small = 1;
    MPI_Win win, twin;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_accumulate_intrinsic", "true");
    OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPIX_Win_dup_with_info(win, info, &twin));
    MPI_Info_free(&info);
    OK(MPI_Win_lock_all(0, win));
    const int broken = checked ? MPI_ERR_ASSERT : MPI_SUCCESS;
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, MPI_SUM, twin));
    OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, next_rank, 0, MPI_SUM, twin));
    OK(MPI_Compare_and_swap(&one, &one, &old, MPI_INT64_T, next_rank, 8, twin));
    OK(MPI_Accumulate(&real, 1, MPI_DOUBLE, next_rank, 16, 1, MPI_DOUBLE, MPI_SUM, win));
    CHECK_EQ(error_class(MPI_Accumulate(&real, 1, MPI_DOUBLE, next_rank, 16, 1, MPI_DOUBLE, MPI_SUM, twin)), broken);
    CHECK_EQ(error_class(MPI_Accumulate(&small, 1, MPI_INT32_T, next_rank, 30, 1, MPI_INT32_T, MPI_SUM, twin)), broken);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(base[0], 2);
    CHECK_EQ(*(double *)(base + 2), checked ? 1 : 2);
    OK(MPI_Win_free(&twin));
    OK(MPI_Win_free(&win));
}

static MPI_Win parent;

static int64_t *new_memory(void)
{
    void *made;
    OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &made));
    return made;
}

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 exposes memory, releases it and allocates again; rank 1 goes on with its window. */
static void owner(void)
{
    char handle[MPIX_MAX_MEMHANDLE_SIZE] = {0};
    int size;
    int64_t *later[20], *base = new_memory(), *old = base;
    OK(MPIX_Memhandle_create(base, BYTES, MPI_INFO_NULL, parent, handle, &size));
    OK(MPI_Send(handle, sizeof handle, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    meet(); /* rank 1 has written */
    CHECK_EQ(base[7], 70);
    OK(MPIX_Memhandle_release(handle, parent));
    OK(MPI_Free_mem(base));
    for (int i = 0; i < 20; i++)
        memset(later[i] = new_memory(), i, BYTES);
    meet();
    meet(); /* rank 1 has written again */
    for (int i = 0; i < 20; i++)
        for (size_t at = 0; at < BYTES; at++)
            CHECK_EQ(((char *)later[i])[at], i);
    for (int i = 0; i < 20; i++)
        OK(MPI_Free_mem(later[i]));
    /* Nobody maps the old memory any more: the next release gives it back. */
    int64_t *other = new_memory(), found = 0;
    OK(MPIX_Memhandle_create(other, BYTES, MPI_INFO_NULL, parent, handle, &size));
    OK(MPIX_Memhandle_release(handle, parent));
    OK(MPI_Free_mem(other));
    for (int i = 0; i < 20; i++)
        found |= (later[i] = new_memory()) == old;
    CHECK(found);
    for (int i = 0; i < 20; i++)
        OK(MPI_Free_mem(later[i]));
}

static void user(void)
{
    char handle[MPIX_MAX_MEMHANDLE_SIZE];
    int64_t value[WORDS], old, one = 1;
    MPI_Win win, copy;
    for (int i = 0; i < WORDS; i++)
        value[i] = 10 * i;
    OK(MPI_Recv(handle, sizeof handle, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPIX_Win_from_memhandle(handle, BYTES, 8, MPI_INFO_NULL, 0, parent, &win));
    OK(MPI_Put(value, WORDS, MPI_INT64_T, 0, 0, WORDS, MPI_INT64_T, win));
    OK(MPI_Win_flush(0, win));
    meet();
    meet();
    const int bad = checked ? MPI_ERR_RMA_ATTACH : MPI_SUCCESS;
    CHECK_EQ(error_class(MPI_Put(value, WORDS, MPI_INT64_T, 0, 0, WORDS, MPI_INT64_T, win)), bad);
    CHECK_EQ(error_class(MPI_Get(value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win)), bad);
    CHECK_EQ(error_class(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win)), bad);
    CHECK_EQ(error_class(MPI_Compare_and_swap(&one, &one, &old, MPI_INT64_T, 0, 0, win)), bad);
    CHECK_EQ(error_class(MPIX_Win_from_memhandle(handle, BYTES, 8, MPI_INFO_NULL, 0, parent, &copy)),
             MPI_ERR_RMA_ATTACH);
    OK(MPI_Win_flush(0, win));
    OK(MPI_Win_free(&win));
    meet();
}

int main(int argc, char **argv)
{
    checked = argc > 1 && strcmp(argv[1], "check") == 0;
    check_start(MPI_THREAD_SINGLE);
    promise();
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent));
    MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN);
    OK(MPI_Win_lock_all(0, parent));
    if (me == 0)
        owner();
    else
        user();
    OK(MPI_Win_unlock_all(parent));
    OK(MPI_Win_free(&parent));
    return check_pass();
}
