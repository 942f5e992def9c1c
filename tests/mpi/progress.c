/* Progress both ways: the MPI's messages move while a rank waits for a window, and windows go on while their owner waits
 * in the MPI, or computes. Without the kernel's copies, so that the owner has a part in operations on created windows.
 * ranks: 2 4
 * ways: plain far */
#include "check.h"

#include <time.h>

static MPI_Win allocated, created;
static int64_t *base, own[100];

/* Rank 1 waits in MPI_Recv for a message that rank 0 sends once its operations at rank 1 are complete. */
static void owner_waits_in_mpi(MPI_Win win)
{
    int64_t value = 5, got = 0, old = 0;
    int token = 0;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    if (me == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        OK(MPI_Put(&value, 1, MPI_INT64_T, 1, 7, 1, MPI_INT64_T, win));
        OK(MPI_Win_flush(1, win));
        OK(MPI_Get(&got, 1, MPI_INT64_T, 1, 7, 1, MPI_INT64_T, win));
        OK(MPI_Win_flush(1, win));
        CHECK_EQ(got, 5);
        OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 1, 7, MPI_SUM, win));
        OK(MPI_Win_unlock(1, win));
        CHECK_EQ(old, 5);
        MPI_Send(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ((win == created ? own : base)[7], 10);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 holds a lock while it sends a long message; rank 1 asks for the lock before it waits for the message. */
static void holder_waits_in_mpi(MPI_Win win)
{
    enum { LONG = 4 << 20 };
    static char text[LONG];
    MPI_Request request;
    if (me == 1)
        MPI_Irecv(text, LONG, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &request);
    if (me == 0)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        memset(text, 'x', LONG);
        MPI_Ssend(text, LONG, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
        OK(MPI_Win_unlock(0, win));
    } else if (me == 1) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Win_unlock(0, win));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(text[LONG - 1] == 'x');
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 computes until rank 0 has done its work; no call of the MPI helps. */
static void owner_computes(MPI_Win win)
{
    int64_t value = 1, old = 0;
    volatile int64_t *mine = win == created ? own : base;
    mine[8] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        OK(MPI_Win_lock_all(0, win));
        for (int i = 0; i < 10; i++) {
            OK(MPI_Accumulate(&value, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, MPI_SUM, win));
            OK(MPI_Win_flush(1, win));
        }
        OK(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 1, 8, MPI_NO_OP, win));
        OK(MPI_Win_unlock_all(win));
        CHECK_EQ(old, 10);
    } else if (me == 1) {
        time_t end = time(0) + 20;
        while (*(volatile int64_t *)&mine[8] != 10 && time(0) < end)
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
        CHECK_EQ(mine[8], 10);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void)
{
    setenv("LATERAL_WIRE", getenv("LATERAL_NODE_SIZE") ? "auto" : "messages", 1);
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated));
    OK(MPI_Win_create(own, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &created));
    for (int i = 0; i < 2; i++) {
        MPI_Win win = i ? created : allocated;
        owner_waits_in_mpi(win);
        holder_waits_in_mpi(win);
        owner_computes(win);
    }
    OK(MPI_Win_free(&created));
    OK(MPI_Win_free(&allocated));
    return check_pass();
}
