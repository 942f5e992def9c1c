/* Shared windows, contiguous and in pieces; shared_query of other kinds; windows over memory of MPI_Alloc_mem and over
 * parts of another window.
 * ranks: 1 4 */
#include "check.h"

static void contiguous(void)
{
    MPI_Win win;
    int *mine, *first, *theirs, unit;
    MPI_Aint size;
    int n = me + 1;
    OK(MPI_Win_allocate_shared(n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first));
    CHECK(mine == first + me * (me + 1) / 2);
    OK(MPI_Win_shared_query(win, next_rank, &size, &unit, &theirs));
    CHECK_EQ(size, (next_rank + 1) * sizeof(int));
    CHECK_EQ(unit, sizeof(int));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < n; i++)
        mine[i] = 100 * me + i;
    OK(MPI_Win_sync(win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_sync(win));
    for (int rank = 0, at = 0; rank < ranks; rank++)
        for (int i = 0; i <= rank; i++, at++)
            CHECK_EQ(first[at], 100 * rank + i);
    MPI_Barrier(MPI_COMM_WORLD);
    int value = 7000 + me;
    OK(MPI_Put(&value, 1, MPI_INT, next_rank, next_rank, 1, MPI_INT, win));
    OK(MPI_Win_flush(next_rank, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(mine[me], 7000 + prev_rank);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

/* Nobody has a byte: the lowest rank that has one is none of them. */
static void empty(void)
{
    MPI_Win win;
    MPI_Aint size = 7;
    void *mine, *first;
    int unit = 0;
    OK(MPI_Win_allocate_shared(0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first));
    CHECK_EQ(size, 0);
    OK(MPI_Win_free(&win));
}

static void in_pieces(void)
{
    MPI_Win win;
    MPI_Info info;
    double *mine, *theirs;
    MPI_Aint size;
    int unit;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    OK(MPI_Win_allocate_shared(me == 0 ? 0 : 4096, 8, info, MPI_COMM_WORLD, &mine, &win));
    MPI_Info_free(&info);
    OK(MPI_Win_shared_query(win, next_rank, &size, &unit, &theirs));
    CHECK_EQ(size, next_rank == 0 ? 0 : 4096);
    CHECK((theirs == NULL) == (next_rank == 0)); /* a piece without bytes is nowhere */
    OK(MPI_Win_fence(0, win));
    if (next_rank != 0)
        theirs[3] = me + 0.5;
    OK(MPI_Win_fence(0, win));
    if (me != 0)
        CHECK(mine[3] == prev_rank + 0.5);
    OK(MPI_Win_free(&win));
}

/* Two windows see the same bytes, by whichever of them they were written. */
static void over_each_other(void)
{
    MPI_Win outer, inner, named;
    int64_t *base, *allocated;
    OK(MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &outer));
    OK(MPI_Win_create(base + 10, 80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &inner));
    OK(MPI_Alloc_mem(8000, MPI_INFO_NULL, &allocated));
    OK(MPI_Win_create(allocated + 500, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &named));
    int64_t value = 40 + me, got = 0;
    OK(MPI_Win_fence(0, inner));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, 2, 1, MPI_INT64_T, inner));
    OK(MPI_Win_fence(0, inner));
    CHECK_EQ(base[12], 40 + prev_rank);
    OK(MPI_Win_fence(0, outer));
    OK(MPI_Get(&got, 1, MPI_INT64_T, prev_rank, 12, 1, MPI_INT64_T, outer));
    OK(MPI_Win_fence(0, outer));
    CHECK_EQ(got, 40 + (prev_rank + ranks - 1) % ranks);
    OK(MPI_Win_fence(0, named));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, 99, 1, MPI_INT64_T, named));
    OK(MPI_Win_fence(0, named));
    CHECK_EQ(allocated[599], 40 + prev_rank);
    int64_t *near;
    MPI_Aint size;
    int unit;
    OK(MPI_Win_shared_query(named, next_rank, &size, &unit, &near)); /* MPI 4.1: mapped, so known */
    CHECK_EQ(size, 800);
    CHECK_EQ(near[99], value);
    OK(MPI_Win_free(&named));
    OK(MPI_Win_free(&inner));
    OK(MPI_Win_free(&outer));
    OK(MPI_Free_mem(allocated));
}

static void hints(void)
{
    MPI_Win win;
    MPI_Info info, got;
    char value[MPI_MAX_INFO_VAL + 1];
    int *base, found;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    OK(MPI_Win_allocate(4, 1, info, MPI_COMM_WORLD, &base, &win));
    MPI_Info_set(info, "mpi_win_ordered", "true");
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Win_get_info(win, &got));
    MPI_Info_get(got, "same_size", MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, "true") == 0);
    MPI_Info_get(got, "mpi_win_ordered", MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, "true") == 0);
    MPI_Info_get(got, "accumulate_ordering", MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, "rar,raw,war,waw") == 0);
    MPI_Info_free(&info);
    MPI_Info_free(&got);
    OK(MPI_Win_free(&win));
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    contiguous();
    empty();
    in_pieces();
    over_each_other();
    hints();
    return check_pass();
}
