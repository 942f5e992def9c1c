/* The parts of running.c about the C side of the module mpix_rma: integers of Fortran become handles, and statuses and what is made come
 * back. The functions behind it are the test's: each of their arguments is a number of its own. */
#ifndef MPI_TEST_RUNNING_MPIX_H
#define MPI_TEST_RUNNING_MPIX_H
#include "running_stub.h"

#include <mpix_rma.h>

#undef PMPI_Win_f2c
#undef PMPI_Win_c2f
#undef PMPI_Type_f2c
#undef PMPI_Op_f2c
#undef PMPI_Info_f2c
#undef PMPI_Request_c2f
#define PMPI_Win_f2c(number) WIN(number)
#define PMPI_Win_c2f(win) ((MPI_Fint)(intptr_t)(win))
#define PMPI_Type_f2c(number) ((MPI_Datatype)(intptr_t)(number))
#define PMPI_Op_f2c(number) ((MPI_Op)(intptr_t)(number))
#define PMPI_Info_f2c(number) ((MPI_Info)(intptr_t)(number))
#define PMPI_Request_c2f(request) ((MPI_Fint)(intptr_t)(request))
#undef LMPI_EXPORT
#define LMPI_EXPORT __attribute__((visibility("hidden")))
#define end end_of_subroutine
#include "../../src/mpi/fortran_mpix.c"
#undef end

enum { MADE = 7000, TYPE = 61, TYPE2 = 62, TYPE3 = 63, OP = 64, INFO = 65, WINDOW = 66 };
static int mpix_status, mpix_calls;
static char mpix_buffer[4];

static int answer(bool good)
{
    CHECK(good);
    mpix_calls++;
    return mpix_status;
}

static int answer_request(bool good, MPI_Request *request)
{
    *request = (MPI_Request)(intptr_t)MADE;
    return answer(good);
}

/* A transfer between the buffer's start, and displacement 9 of rank 2. */
static bool is_transfer(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                        MPI_Datatype other, MPI_Win win)
{
    return origin == mpix_buffer && count == 11 && type == PMPI_Type_f2c(TYPE) && rank == 2 && disp == 9 && n == 12 &&
           other == PMPI_Type_f2c(TYPE2) && win == WIN(WINDOW);
}

int MPIX_Win_dup_with_info(MPI_Win parent, MPI_Info info, MPI_Win *made)
{
    *made = WIN(MADE);
    return answer(parent == WIN(WINDOW) && info == PMPI_Info_f2c(INFO));
}

int MPIX_Memhandle_create(void *base, MPI_Aint size, MPI_Info info, MPI_Win parent, void *handle, int *bytes)
{
    *bytes = 80;
    return answer(base == mpix_buffer && size == 5 && info == PMPI_Info_f2c(INFO) && parent == WIN(WINDOW) &&
                  handle == mpix_buffer + 1);
}

int MPIX_Win_from_memhandle(const void *handle, MPI_Aint size, int unit, MPI_Info info, int target, MPI_Win parent,
                            MPI_Win *made)
{
    *made = WIN(MADE);
    return answer(handle == mpix_buffer + 1 && size == 5 && unit == 4 && info == PMPI_Info_f2c(INFO) && target == 2 &&
                  parent == WIN(WINDOW));
}

int MPIX_Memhandle_release(void *handle, MPI_Win parent)
{
    return answer(handle == mpix_buffer + 1 && parent == WIN(WINDOW));
}

int MPIX_Win_op_intrinsic(const char *ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win, int *flag)
{
    *flag = 1;
    return answer(strcmp(ops, "sum") == 0 && max_count == 5 && type == PMPI_Type_f2c(TYPE) && win == WIN(WINDOW));
}

int MPIX_Rrput(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n, MPI_Datatype other,
               MPI_Win win, MPI_Request *request)
{
    return answer_request(is_transfer(origin, count, type, rank, disp, n, other, win), request);
}

int MPIX_Rraccumulate(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                      MPI_Datatype other, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return answer_request(is_transfer(origin, count, type, rank, disp, n, other, win) && op == PMPI_Op_f2c(OP),
                          request);
}

int MPIX_Rrget_accumulate(const void *origin, int count, MPI_Datatype type, void *result, int m, MPI_Datatype third,
                          int rank, MPI_Aint disp, int n, MPI_Datatype other, MPI_Op op, MPI_Win win,
                          MPI_Request *request)
{
    const bool good = result == mpix_buffer + 2 && m == 13 && third == PMPI_Type_f2c(TYPE3) && op == PMPI_Op_f2c(OP);
    return answer_request(good && is_transfer(origin, count, type, rank, disp, n, other, win), request);
}

int MPIX_Rrfetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
                        MPI_Win win, MPI_Request *request)
{
    return answer_request(result == mpix_buffer + 2 && op == PMPI_Op_f2c(OP) &&
                              is_transfer(origin, 11, type, rank, disp, 12, PMPI_Type_f2c(TYPE2), win),
                          request);
}

int MPIX_Rrcompare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int rank,
                            MPI_Aint disp, MPI_Win win, MPI_Request *request)
{
    return answer_request(compare == mpix_buffer + 3 && result == mpix_buffer + 2 &&
                              is_transfer(origin, 11, type, rank, disp, 12, PMPI_Type_f2c(TYPE2), win),
                          request);
}

int MPIX_Put_notify(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                    MPI_Datatype other, int id, MPI_Win win)
{
    return answer(id == 3 && is_transfer(origin, count, type, rank, disp, n, other, win));
}

int MPIX_Get_notify(void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n, MPI_Datatype other,
                    int id, MPI_Win win)
{
    return answer(id == 4 && is_transfer(origin, count, type, rank, disp, n, other, win));
}

int MPIX_Accumulate_notify(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp, int n,
                           MPI_Datatype other, MPI_Op op, int id, MPI_Win win)
{
    return answer(id == 4 && op == PMPI_Op_f2c(OP) && is_transfer(origin, count, type, rank, disp, n, other, win));
}

int MPIX_Win_wait_notify(MPI_Win win, int id, long count, MPI_Request *request)
{
    return answer_request(win == WIN(WINDOW) && id == 3 && count == 5, request);
}

int MPIX_Win_notify_get_value(MPI_Win win, int id, long *value)
{
    *value = 123;
    return answer(win == WIN(WINDOW) && id == 3);
}

int MPIX_Win_notify_reset(MPI_Win win, int id, long *value)
{
    *value = 124;
    return answer(win == WIN(WINDOW) && id == 3);
}

/* Calls with a status of success and another, and without room for it. What is made comes back from a call that succeeds alone. */
#define CALLS(made, name, ...)                                            \
    for (mpix_status = MPI_SUCCESS; mpix_status <= 4; mpix_status += 4) { \
        MPI_Fint error = -6;                                              \
        mpix_calls = 0;                                                   \
        out = -5;                                                         \
        name(__VA_ARGS__, &error);                                        \
        CHECK(error == mpix_status && mpix_calls == 1);                   \
        CHECK_EQ(out, mpix_status == MPI_SUCCESS ? (made) : -5);          \
        name(__VA_ARGS__, 0);                                             \
        CHECK_EQ(mpix_calls, 2);                                          \
    }

static void fortran_module(void)
{
    const MPI_Fint count = 11, n = 12, m = 13, rank = 2, type = TYPE, type2 = TYPE2, type3 = TYPE3, op = OP,
                   info = INFO, win = WINDOW;
    const MPI_Fint three = 3, four = 4;
    const MPI_Aint five = 5, disp = 9;
    const long long_five = 5;
    char *const at = mpix_buffer;
    MPI_Fint out, other = 0;
    long value = 0;
    CALLS(MADE, lmpi_win_dup_with_info_f, &win, &info, &out)
    CALLS(-5, lmpi_memhandle_create_f, at, &five, &info, &win, at + 1, &other)
    CHECK_EQ(other, 80);
    CALLS(MADE, lmpi_win_from_memhandle_f, at + 1, &five, &four, &info, &rank, &win, &out)
    CALLS(-5, lmpi_memhandle_release_f, at + 1, &win)
    CALLS(-5, lmpi_win_op_intrinsic_f, "sum", &five, &type, &win, &other)
    CHECK_EQ(other, 1);
    CALLS(MADE, lmpi_rrput_f, at, &count, &type, &rank, &disp, &n, &type2, &win, &out)
    CALLS(MADE, lmpi_rraccumulate_f, at, &count, &type, &rank, &disp, &n, &type2, &op, &win, &out)
    CALLS(MADE, lmpi_rrget_accumulate_f, at, &count, &type, at + 2, &m, &type3, &rank, &disp, &n, &type2, &op, &win,
          &out)
    CALLS(MADE, lmpi_rrfetch_and_op_f, at, at + 2, &type, &rank, &disp, &op, &win, &out)
    CALLS(MADE, lmpi_rrcompare_and_swap_f, at, at + 3, at + 2, &type, &rank, &disp, &win, &out)
    CALLS(-5, lmpi_put_notify_f, at, &count, &type, &rank, &disp, &n, &type2, &three, &win)
    CALLS(-5, lmpi_get_notify_f, at, &count, &type, &rank, &disp, &n, &type2, &four, &win)
    CALLS(-5, lmpi_accumulate_notify_f, at, &count, &type, &rank, &disp, &n, &type2, &op, &four, &win)
    CALLS(MADE, lmpi_win_wait_notify_f, &win, &three, &long_five, &out)
    CALLS(-5, lmpi_win_notify_get_value_f, &win, &three, &value)
    CHECK_EQ(value, 123);
    CALLS(-5, lmpi_win_notify_reset_f, &win, &three, &value)
    CHECK_EQ(value, 124);
    CHECK((void *)lmpi_rrput_f08 == (void *)lmpi_rrput_f); /* the module has two forms of each */
}

#endif
