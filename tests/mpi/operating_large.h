/* The parts of operating.c about the large-count forms of MPI 4. */
#ifndef MPI_TEST_OPERATING_LARGE_H
#define MPI_TEST_OPERATING_LARGE_H
#include "operating_requests.h"

#if MPI_VERSION >= 4
static int unit_made, made_by_small;

static int layer_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    CHECK(base && size == 8 && info == MPI_INFO_NULL && comm == MPI_COMM_SELF && win);
    unit_made = unit;
    return 60;
}

static int layer_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    return layer_Win_create(base, size, unit, info, comm, win) + 1;
}

static int layer_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    return layer_Win_create(base, size, unit, info, comm, win) + 2;
}

static int layer_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    CHECK(win == WIN(1) && rank == 2 && base);
    made_by_small++;
    *size = 80;
    *unit = 4;
    return 63;
}
#endif
#define move move_large
#define update update_large
#include "../../src/mpi/large.c"
#undef update
#undef move

#if MPI_VERSION >= 4
#define BEYOND ((MPI_Aint)INT_MAX + 1)

static int large_create(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    CHECK(base && size == 8 && unit == BEYOND && info == MPI_INFO_NULL && comm == MPI_COMM_SELF && win);
    return 50;
}

static int large_allocate(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    return large_create(base, size, unit, info, comm, win) + 1;
}

static int large_query(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *unit, void *base)
{
    CHECK(win == WIN(9) && rank == 2 && size && unit && base);
    return 53;
}

/* Windows are made by the forms of the small counts, whose unit is an int. */
static void large_windows(void)
{
    const struct {
        MPI_Aint unit;
        int small;
    } rows[] = {{1, 1}, {0, 0}, {-1, -1}, {-BEYOND * 2, -1}, {INT_MAX, INT_MAX}};
    MPI_Win win = MPI_WIN_NULL;
    MPI_Aint size = 0, unit = 0;
    char *base = buffer;
    reset();
    lmpi_real.Win_create_c = large_create;
    lmpi_real.Win_allocate_c = lmpi_real.Win_allocate_shared_c = large_allocate;
    lmpi_real.Win_shared_query_c = large_query;
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(layer_Win_create_c(buffer, 8, rows[i].unit, MPI_INFO_NULL, MPI_COMM_SELF, &win), 60);
        CHECK_EQ(unit_made, rows[i].small);
        CHECK_EQ(layer_Win_allocate_c(8, rows[i].unit, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), 61);
        CHECK_EQ(unit_made, rows[i].small);
        CHECK_EQ(layer_Win_allocate_shared_c(8, rows[i].unit, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), 62);
        CHECK_EQ(unit_made, rows[i].small);
    }
    CHECK_EQ(layer_Win_create_c(buffer, 8, BEYOND, MPI_INFO_NULL, MPI_COMM_SELF, &win), 50);
    CHECK_EQ(layer_Win_allocate_c(8, BEYOND, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), 51);
    CHECK_EQ(layer_Win_allocate_shared_c(8, BEYOND, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win), 51);
    CHECK_EQ(layer_Win_shared_query_c(WIN(OURS), 2, &size, &unit, &base), 63);
    CHECK(size == 80 && unit == 4 && made_by_small == 1);
    CHECK_EQ(layer_Win_shared_query_c(WIN(9), 2, &size, &unit, &base), 53);
}

static int large_move(void *origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count n,
                      MPI_Datatype other, MPI_Win win)
{
    CHECK(origin == buffer && count == BEYOND && type == MPI_INT && rank == 2 && disp == 5 && n == BEYOND + 1 &&
          other == MPI_CHAR && win == WIN(9));
    return 90;
}

static int large_put(const void *origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count n,
                     MPI_Datatype other, MPI_Win win)
{
    return large_move((void *)(intptr_t)origin, count, type, rank, disp, n, other, win) + 1;
}

static int large_rmove(void *origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count n,
                       MPI_Datatype other, MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return large_move(origin, count, type, rank, disp, n, other, win) + 2;
}

static int large_rput(const void *origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count n,
                      MPI_Datatype other, MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return large_move((void *)(intptr_t)origin, count, type, rank, disp, n, other, win) + 3;
}

static int large_update(const void *origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count n,
                        MPI_Datatype other, MPI_Op op, MPI_Win win)
{
    CHECK(op == MPI_SUM);
    return large_move((void *)(intptr_t)origin, count, type, rank, disp, n, other, win) + 4;
}

static int large_rupdate(const void *origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count n,
                         MPI_Datatype other, MPI_Op op, MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return large_update(origin, count, type, rank, disp, n, other, op, win) + 1;
}

static int large_fetch(const void *origin, MPI_Count count, MPI_Datatype type, void *result, MPI_Count m,
                       MPI_Datatype result_type, int rank, MPI_Aint disp, MPI_Count n, MPI_Datatype other, MPI_Op op,
                       MPI_Win win)
{
    CHECK(result == old && m == 6 && result_type == MPI_SHORT);
    return large_update(origin, count, type, rank, disp, n, other, op, win) + 2;
}

static int large_rfetch(const void *origin, MPI_Count count, MPI_Datatype type, void *result, MPI_Count m,
                        MPI_Datatype result_type, int rank, MPI_Aint disp, MPI_Count n, MPI_Datatype other, MPI_Op op,
                        MPI_Win win, MPI_Request *made)
{
    CHECK(made == &request);
    return large_fetch(origin, count, type, result, m, result_type, rank, disp, n, other, op, win) + 1;
}

static void foreign_large(void)
{
    reset();
    lmpi_real.Put_c = large_put;
    lmpi_real.Get_c = large_move;
    lmpi_real.Rput_c = large_rput;
    lmpi_real.Rget_c = large_rmove;
    lmpi_real.Accumulate_c = large_update;
    lmpi_real.Raccumulate_c = large_rupdate;
    lmpi_real.Get_accumulate_c = large_fetch;
    lmpi_real.Rget_accumulate_c = large_rfetch;
    CHECK_EQ(layer_Put_c(buffer, BEYOND, MPI_INT, 2, 5, BEYOND + 1, MPI_CHAR, WIN(9)), 91);
    CHECK_EQ(layer_Get_c(buffer, BEYOND, MPI_INT, 2, 5, BEYOND + 1, MPI_CHAR, WIN(9)), 90);
    CHECK_EQ(layer_Rput_c(buffer, BEYOND, MPI_INT, 2, 5, BEYOND + 1, MPI_CHAR, WIN(9), &request), 93);
    CHECK_EQ(layer_Rget_c(buffer, BEYOND, MPI_INT, 2, 5, BEYOND + 1, MPI_CHAR, WIN(9), &request), 92);
    CHECK_EQ(layer_Accumulate_c(buffer, BEYOND, MPI_INT, 2, 5, BEYOND + 1, MPI_CHAR, MPI_SUM, WIN(9)), 94);
    CHECK_EQ(layer_Raccumulate_c(buffer, BEYOND, MPI_INT, 2, 5, BEYOND + 1, MPI_CHAR, MPI_SUM, WIN(9), &request), 95);
    CHECK_EQ(layer_Get_accumulate_c(buffer, BEYOND, MPI_INT, old, 6, MPI_SHORT, 2, 5, BEYOND + 1, MPI_CHAR, MPI_SUM,
                                    WIN(9)),
             96);
    CHECK_EQ(layer_Rget_accumulate_c(buffer, BEYOND, MPI_INT, old, 6, MPI_SHORT, 2, 5, BEYOND + 1, MPI_CHAR, MPI_SUM,
                                     WIN(9), &request),
             97);
}

static void large_operations(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        reset();
        window.open = LMPI_OPEN_LOCK_ALL;
        const int two[2] = {5, 7};
        memcpy(buffer, two, 8);
        OK(layer_Put_c(buffer, 2, MPI_INT, rank, 8, 8, MPI_CHAR, WIN(OURS)));
        CHECK(int_at(rank, 8) == 5 && int_at(rank, 12) == 7 && asked.op.nonblocking == (rank == FAR));
        OK(layer_Accumulate_c(buffer, 2, MPI_INT, rank, 8, 2, MPI_INT, MPI_SUM, WIN(OURS)));
        CHECK(int_at(rank, 8) == 10 && int_at(rank, 12) == 14 && asked.op.nonblocking == (rank == FAR));
        OK(layer_Get_accumulate_c(buffer, 2, MPI_INT, old, 2, MPI_INT, rank, 8, 2, MPI_INT, MPI_SUM, WIN(OURS)));
        CHECK(int_at(rank, 8) == 15 && ((int *)old)[0] == 10 && ((int *)old)[1] == 14);
        DONE(layer_Rput_c(buffer, 2, MPI_INT, rank, 16, 2, MPI_INT, WIN(OURS), &request));
        DONE(layer_Raccumulate_c(buffer, 2, MPI_INT, rank, 16, 2, MPI_INT, MPI_SUM, WIN(OURS), &request));
        CHECK(int_at(rank, 16) == 10 && int_at(rank, 20) == 14);
        OK(layer_Get_c(buffer, 2, MPI_INT, rank, 16, 2, MPI_INT, WIN(OURS)));
        CHECK_EQ(((int *)buffer)[1], 14);
        if (rank == FAR) {
            LATER(layer_Rget_c(buffer, 2, MPI_INT, rank, 8, 2, MPI_INT, WIN(OURS), &request), UCCS_OK);
            LATER(layer_Rget_accumulate_c(buffer, 2, MPI_INT, old, 2, MPI_INT, rank, 16, 2, MPI_INT, MPI_SUM, WIN(OURS),
                                          &request),
                  UCCS_OK);
        } else {
            DONE(layer_Rget_c(buffer, 2, MPI_INT, rank, 8, 2, MPI_INT, WIN(OURS), &request));
            DONE(layer_Rget_accumulate_c(buffer, 2, MPI_INT, old, 2, MPI_INT, rank, 16, 2, MPI_INT, MPI_SUM, WIN(OURS),
                                         &request));
        }
        CHECK(((int *)buffer)[0] == 15 && ((int *)old)[1] == 14 && int_at(rank, 16) == 25);
        FAILS(layer_Put_c(buffer, BEYOND * 2, MPI_INT, rank, 0, BEYOND * 2, MPI_INT, WIN(OURS)), MPI_ERR_RMA_RANGE);
        FAILS(layer_Accumulate_c(buffer, BEYOND * 2, MPI_INT, rank, 0, BEYOND * 2, MPI_INT, MPI_SUM, WIN(OURS)),
              MPI_ERR_RMA_RANGE);
    }
}

static void large_counts(void)
{
    large_windows();
    foreign_large();
    large_operations();
}
#else
static void large_counts(void) {}
#endif

#endif
