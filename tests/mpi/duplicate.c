/* Duplicated windows: one memory, one set of locks, hints of their own; scope and order of operations.
 * ranks: 1 2
 * ways: plain far
 * links: layer */
#include "check.h"

#include <mpix_rma.h>
#include <pthread.h>

enum { WORDS = 64, THREADS = 4, TURNS = 60 };

static int64_t *base;
static MPI_Win win, threaded, ordered;

static void check_hint(MPI_Win of, const char *key, const char *value)
{
    MPI_Info info;
    char text[64] = "";
    int found;
    OK(MPI_Win_get_info(of, &info));
    MPI_Info_get(info, key, sizeof text - 1, text, &found);
    CHECK(found && strcmp(text, value) == 0);
    MPI_Info_free(&info);
}

static MPI_Win duplicate(MPI_Win of, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Win made;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    OK(MPIX_Win_dup_with_info(of, info, &made));
    MPI_Info_free(&info);
    return made;
}

static void hints(void)
{
    MPI_Win both = duplicate(ordered, "mpi_win_scope_thread", "true");
    check_hint(win, "mpi_win_scope", "process");
    check_hint(win, "mpi_win_order", "false");
    check_hint(threaded, "mpi_win_scope", "thread");
    check_hint(threaded, "mpi_win_scope_thread", "true");
    check_hint(threaded, "mpi_win_order", "false");
    check_hint(ordered, "mpi_win_order", "true");
    check_hint(ordered, "mpi_win_ordered", "true");
    check_hint(both, "mpi_win_scope", "thread");
    check_hint(both, "mpi_win_order", "true");
    MPI_Win odd = duplicate(both, "mpi_win_scope", "galaxy"); /* keeps what it has */
    check_hint(odd, "mpi_win_scope", "thread");
    OK(MPI_Win_free(&odd));
    CHECK(odd == MPI_WIN_NULL);
    OK(MPI_Win_free(&both));
}

/* A lock on one of the windows is held on all. */
static void locks(void)
{
    int64_t one = 41, back = 0;
    CHECK_EQ(error_class(MPI_Put(&one, 1, MPI_INT64_T, next_rank, 2, 1, MPI_INT64_T, threaded)), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank, 0, threaded));
    CHECK_EQ(error_class(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, win)), MPI_ERR_RMA_SYNC);
    CHECK_EQ(error_class(MPI_Win_lock(MPI_LOCK_SHARED, next_rank, 0, ordered)), MPI_ERR_RMA_SYNC);
    OK(MPI_Put(&one, 1, MPI_INT64_T, next_rank, 2, 1, MPI_INT64_T, ordered));
    OK(MPI_Win_flush(next_rank, win));
    OK(MPI_Get(&back, 1, MPI_INT64_T, next_rank, 2, 1, MPI_INT64_T, win));
    OK(MPI_Win_unlock(next_rank, win));
    CHECK_EQ(back, 41);
    CHECK_EQ(error_class(MPI_Win_flush(next_rank, ordered)), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_fence(0, ordered));
    one = 42;
    OK(MPI_Put(&one, 1, MPI_INT64_T, next_rank, 2, 1, MPI_INT64_T, threaded));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQ(base[2], 42);
    MPI_Win late = duplicate(win, "mpi_win_order", "true");
    OK(MPI_Win_lock_all(0, late));
    CHECK_EQ(error_class(MPI_Win_free(&win)), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_unlock_all(ordered));
    CHECK_EQ(error_class(MPI_Win_free(&win)), MPI_ERR_RMA_CONFLICT); /* its duplicates are there */
    OK(MPI_Win_free(&late));
}

static void *work(void *argument)
{
    int id = (int)(intptr_t)argument;
    MPI_Aint at = 8 + id;
    int64_t one = 1;
    for (int turn = 0; turn < TURNS; turn++) {
        int64_t value = id * 1000 + turn, back = -1;
        OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, threaded));
        OK(MPI_Win_flush(next_rank, threaded));
        OK(MPI_Get(&back, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
        OK(MPI_Win_flush(next_rank, win));
        CHECK_EQ(back, value);
        OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 3, 1, MPI_INT64_T, MPI_SUM, turn % 2 ? threaded : win));
    }
    return 0; /* the unlock completes the rest */
}

static void threads(void)
{
    pthread_t thread[THREADS];
    base[3] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], 0, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], 0);
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        CHECK_EQ(base[3], THREADS * TURNS * ranks);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(base[8 + i], i * 1000 + TURNS - 1);
}

/* The count at the target rises behind the data, with no flush between. */
static void order(void)
{
    int64_t data[8], one = 1, seen = 0;
    base[4] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, ordered));
    for (int turn = 1; turn <= 50; turn++) {
        for (int i = 0; i < 8; i++)
            data[i] = turn * 10 + i;
        OK(MPI_Put(data, 8, MPI_INT64_T, next_rank, 16, 8, MPI_INT64_T, ordered));
        OK(MPI_Accumulate(&one, 1, MPI_INT64_T, next_rank, 4, 1, MPI_INT64_T, MPI_SUM, ordered));
        while (seen < turn) {
            OK(MPI_Fetch_and_op(0, &seen, MPI_INT64_T, me, 4, MPI_NO_OP, win));
            OK(MPI_Win_flush(me, win));
        }
        for (int i = 0; i < 8; i++)
            CHECK_EQ(base[16 + i], turn * 10 + i);
        OK(MPI_Win_flush(next_rank, ordered));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_Win_unlock_all(ordered));
}

static void intrinsic(const char *way)
{
    int flag = -1;
    OK(MPIX_Win_op_intrinsic("sum,replace,cas", 4, MPI_INT64_T, threaded, &flag));
    CHECK_EQ(flag, ranks == 1 || strcmp(way, "far") != 0);
    OK(MPIX_Win_op_intrinsic("sum,prod", 1, MPI_LONG_DOUBLE, win, &flag));
    CHECK_EQ(flag, 0);
    OK(MPIX_Win_op_intrinsic("band", 1, MPI_DOUBLE, win, &flag));
    CHECK_EQ(flag, 0);
    CHECK_EQ(error_class(MPIX_Win_op_intrinsic("sum,sun", 1, MPI_INT, win, &flag)), MPI_ERR_OP);
    CHECK_EQ(error_class(MPIX_Win_op_intrinsic("sum", -1, MPI_INT, win, &flag)), MPI_ERR_COUNT);
}

int main(int argc, char **argv)
{
    check_start(MPI_THREAD_MULTIPLE);
    OK(MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN); /* duplicates take it over */
    memset(base, 0, WORDS * 8);
    threaded = duplicate(win, "mpi_win_scope", "thread");
    ordered = duplicate(win, "mpi_win_ordered", "true");
    MPI_Barrier(MPI_COMM_WORLD);
    hints();
    locks();
    threads();
    order();
    intrinsic(argc > 1 ? argv[1] : "");
    OK(MPI_Win_free(&ordered));
    OK(MPI_Win_free(&threaded));
    OK(MPI_Win_free(&win));
    return check_pass();
}
