/* The paper's Listings 1, 2 and 6 as printed, with what it leaves out filled in, and the remote-completing requests.
 * ranks: 2
 * ways: single multiple far
 * links: layer */
#include "check.h"

#define MPIX_PAPER_NAMES
#include <mpix_rma.h>
#include <stdbool.h>

enum { DATA = 4, COUNT = 0, WORDS = 64 };

static int64_t *base, data[4];
static MPI_Win win;
static int target;
static long worked;

static void do_useful_work(void)
{
    worked++;
}

static void listing_1(void)
{
    int flag, one = 1;
    MPI_Request req;
    MPI_Rput(data, 4, MPI_INT64_T, target, DATA, 4, MPI_INT64_T, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    /* Flush needed for remote completion */
    MPI_Win_flush(target, win);
    /* Signal that the data has been written by
     * incrementing a counter at the target */
    MPI_Raccumulate(&one, 1, MPI_INT, target, COUNT, 1, MPI_INT, MPI_SUM, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
}

static void listing_2(void)
{
    int flag, one = 1;
    MPI_Request req;
    MPI_Put(data, 4, MPI_INT64_T, target, DATA, 4, MPI_INT64_T, win);
    /* Signal that the data has been written by
     * incrementing a counter at the target */
    MPI_Raccumulate(&one, 1, MPI_INT, target, COUNT, 1, MPI_INT, MPI_SUM, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
}

static void listing_6(void)
{
    int64_t another_variable = me, sum;
    int flag;
    MPI_Request req;
    MPI_Rrput(data, 4, MPI_INT64_T, target, DATA, 4, MPI_INT64_T, win, &req);
    do {
        do_useful_work();
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    /* A call to MPI_Win_flush would be required if MPI_Rput was used */
    MPI_Allreduce(&another_variable, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, ranks * (ranks - 1) / 2);
}

/* Waits for the count, where there is one, and checks that the data of the turn is there. */
static void await(int count, int turn)
{
    int seen = 0;
    while (seen < count) {
        MPI_Fetch_and_op(0, &seen, MPI_INT, me, COUNT, MPI_NO_OP, win);
        MPI_Win_flush(me, win);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(base[DATA + i], turn * 10 + i);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fill(int turn)
{
    for (int i = 0; i < 4; i++)
        data[i] = turn * 10 + i;
}

static void listings(void)
{
    MPI_Win plain = win;
    MPI_Info info;
    fill(1);
    listing_1();
    await(1, 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_order", "true");
    OK(MPIX_Win_dup_with_info(plain, info, &win));
    fill(2);
    listing_2();
    await(2, 2);
    OK(MPI_Win_free(&win));
    MPI_Info_free(&info);
    win = plain;
    fill(3);
    listing_6();
    await(0, 3);
}

/* Every form, the last two with what users ask for; taken beside a request of the MPI's own. */
static void forms(void)
{
    int64_t one = 1, old[3] = {-1, -1, -1}, zero = 0, nine = 9;
    MPI_Datatype pairs;
    MPI_Request req[7];
    MPI_Status states[7];
    base[20] = base[21] = base[30] = base[31] = base[32] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &pairs);
    MPI_Type_commit(&pairs);
    OK(MPI_Rraccumulate(&one, 1, MPI_INT64_T, target, 20, 1, MPI_INT64_T, MPI_SUM, win, &req[0]));
    OK(MPI_Rrget_accumulate(&one, 1, MPI_INT64_T, &old[0], 1, MPI_INT64_T, target, 20, 1, MPI_INT64_T, MPI_SUM, win,
                            &req[1]));
    OK(MPIX_Rrfetch_and_op(&one, &old[1], MPI_INT64_T, target, 20, MPI_SUM, win, &req[2]));
    OK(MPIX_Rrcompare_and_swap(&nine, &zero, &old[2], MPI_INT64_T, target, 21, win, &req[3]));
    OK(MPI_Rrput(data, 1, pairs, target, 30, 1, pairs, win, &req[4]));
    OK(MPI_Rrput(data, 0, MPI_INT64_T, target, 30, 0, MPI_INT64_T, win, &req[5]));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &req[6]));
    OK(MPI_Waitall(7, req, states));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(base[20], 3);
    CHECK_EQ(old[0] + old[1], 3);
    CHECK_EQ(old[2], 0);
    CHECK_EQ(base[21], 9);
    CHECK_EQ(base[30], 30);
    CHECK_EQ(base[31], 0);
    CHECK_EQ(base[32], 32);
    MPI_Type_free(&pairs);
    OK(MPI_Rrput(data, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, win, &req[0]));
    OK(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
    CHECK_EQ(error_class(MPI_Rrput(data, 1, MPI_INT64_T, ranks, 0, 1, MPI_INT64_T, win, req)), MPI_ERR_RANK);
    CHECK_EQ(error_class(MPI_Rrput(data, 1, MPI_INT64_T, target, WORDS, 1, MPI_INT64_T, win, req)), MPI_ERR_RMA_RANGE);
}

/* The same along streams of their own. */
static void forms_of_duplicates(void)
{
    MPI_Win plain = win;
    MPI_Info info;
    for (int kind = 1; kind < 4; kind++) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_win_scope", kind & 1 ? "thread" : "process");
        MPI_Info_set(info, "mpi_win_order", kind & 2 ? "true" : "false");
        OK(MPIX_Win_dup_with_info(plain, info, &win));
        MPI_Info_free(&info);
        forms();
        OK(MPI_Win_free(&win));
    }
    win = plain;
}

int main(int argc, char **argv)
{
    bool single = argc > 1 && strcmp(argv[1], "single") == 0;
    MPI_Request req;
    check_start(single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    target = next_rank;
    OK(MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, WORDS * 8);
    CHECK_EQ(error_class(MPI_Rrput(data, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win, &req)), MPI_ERR_RMA_SYNC);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    listings();
    forms();
    forms_of_duplicates();
    OK(MPI_Win_unlock_all(win));
    CHECK(worked > 0);
    OK(MPI_Win_free(&win));
    return check_pass();
}
