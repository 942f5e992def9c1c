/* The parts of operating.c about MPIX_Win_op_intrinsic, and the promise that LATERAL_CHECK holds a program to. */
#ifndef MPI_TEST_OPERATING_INTRINSIC_H
#define MPI_TEST_OPERATING_INTRINSIC_H
#include "operating_updates.h"

/* ---- MPIX_Win_op_intrinsic ---- */

static int intrinsic_of(const char *words_asked, MPI_Datatype type)
{
    int flag = 9;
    OK(MPIX_Win_op_intrinsic(words_asked, 1, type, WIN(OURS), &flag));
    return flag;
}

static void intrinsics(void)
{
    const struct {
        const char *word;
        enum uccs_reduction how;
        int is;
    } rows[] = {{"sum", UCCS_SUM, 1},          {"prod", UCCS_PROD, 1},        {"max", UCCS_MAX, 1},
                {"min", UCCS_MIN, 1},          {"band", UCCS_AND, 1},         {"bor", UCCS_OR, 1},
                {"bxor", UCCS_XOR, 1},         {"land", UCCS_LOGICAL_AND, 1}, {"lor", UCCS_LOGICAL_OR, 1},
                {"lxor", UCCS_LOGICAL_XOR, 1}, {"replace", UCCS_REPLACE, 1},  {"no_op", UCCS_NO_OP, 1},
                {"maxloc", UCCS_MAX, 0},       {"minloc", UCCS_MIN, 0}};
    int flag = 9;
    reset();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_EQ(intrinsic_of(rows[i].word, MPI_INT), rows[i].is);
        if (rows[i].is)
            CHECK(asked.how == rows[i].how && asked.type == UCCS_INT32);
    }
    CHECK(intrinsic_of("cas", MPI_LONG) == 1 && asked.type == lmpi_op_like_swap(8).type &&
          asked.how == lmpi_op_like_swap(8).how);
    CHECK(intrinsic_of("sum,cas,no_op", MPI_INT) == 1 && intrinsic_of("sum,maxloc", MPI_INT) == 0 &&
          intrinsic_of("maxloc,sum", MPI_INT) == 0);
    for (int i = 0; i < RANKS; i++) { /* at each rank that has memory */
        intrinsic[i] = false;
        CHECK(intrinsic_of("sum", MPI_INT) == 0 && intrinsic_of("sum,no_op", MPI_INT) == 0);
        target[i].memory = 0;
        CHECK_EQ(intrinsic_of("sum", MPI_INT), 1);
        target[i].memory = &memory[i];
        intrinsic[i] = true;
    }
    const char *const wrong[] = {"", "summ", "su", "sum,", ",sum", "sum,,max", "SUM", "sum max"};
    for (int i = 0; i < 8; i++)
        FAILS(MPIX_Win_op_intrinsic(wrong[i], 1, MPI_INT, WIN(OURS), &flag), MPI_ERR_OP);
    FAILS(MPIX_Win_op_intrinsic("sum", -1, MPI_INT, WIN(OURS), &flag), MPI_ERR_COUNT);
    FAILS(MPIX_Win_op_intrinsic("sum", 1, MPI_DATATYPE_NULL, WIN(OURS), &flag), MPI_ERR_TYPE);
    OK(MPIX_Win_op_intrinsic("sum", 0, MPI_INT, WIN(OURS), &flag));
    flag = 9;
    CHECK_EQ(MPIX_Win_op_intrinsic("sum", 1, MPI_INT, WIN(9), &flag), MPI_ERR_WIN);
    CHECK_EQ(flag, 9);
}

/* With LATERAL_CHECK a broken promise is an error, by each of the calls. */
static void promises(void)
{
    const char *unaligned = "LATERAL_CHECK: an accumulate at rank 3 breaks the promise of "
                            "mpi_assert_accumulate_intrinsic: its elements are not aligned";
    const char *no = "LATERAL_CHECK: an accumulate at rank 3 breaks the promise of mpi_assert_accumulate_intrinsic: "
                     "MPIX_Win_op_intrinsic gives 0 for its operation and datatype";
    int (*const calls[])(int, MPI_Aint, MPI_Datatype) = {fetch, swap};
    reset();
    window.promised = true;
    for (int i = 0; i < 2; i++) {
        OK(calls[i](KERNEL, 4, MPI_INT));
        FAILS(calls[i](KERNEL, 2, MPI_INT), MPI_ERR_ASSERT);
        CHECK(strcmp(said, unaligned) == 0);
        intrinsic[KERNEL] = false;
        FAILS(calls[i](KERNEL, 4, MPI_INT), MPI_ERR_ASSERT);
        CHECK(strcmp(said, no) == 0);
        intrinsic[KERNEL] = true;
    }
    target[KERNEL].offset = AT + 1; /* the place in the memory counts */
    OK(fetch(KERNEL, 3, MPI_INT));
    FAILS(fetch(KERNEL, 1, MPI_INT), MPI_ERR_ASSERT);
    target[KERNEL].offset = AT;
    for (int rank = 0; rank < RANKS; rank++) {
        intrinsic[rank] = false;
        FAILS(combine(rank, 0, 1, MPI_INT, MPI_SUM), MPI_ERR_ASSERT);
        intrinsic[rank] = true;
        OK(combine(rank, 0, 1, MPI_INT, MPI_SUM));
    }
    window.promised = false;
    intrinsic[KERNEL] = false;
    OK(combine(KERNEL, 2, 1, MPI_INT, MPI_SUM));
}

#endif
