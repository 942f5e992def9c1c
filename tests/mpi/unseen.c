/* Two ranks put, flush and load what the other has put: one of them at least sees it, in every scope and by every way of
 * loading; and so where they store and MPI_Win_sync stands between store and load. A processor loads before its earlier stores have left for the others unless a fence forbids it.
 * ranks: 2
 * links: layer */
#include "check.h"

#include <mpix_rma.h>
#include <sched.h>

enum { ROUNDS = 400, STEPS = 64, LINE = 16, ARRIVED = STEPS * LINE, WORDS = ARRIVED + LINE };

static int64_t *base, *theirs; /* of the window: this rank's memory and the other's */
static signed char missed[ROUNDS][STEPS];

static int64_t by_get(MPI_Win win, int at)
{
    int64_t value = -1;
    OK(MPI_Get(&value, 1, MPI_INT64_T, me, at, 1, MPI_INT64_T, win));
    return value;
}

static int64_t by_fetch(MPI_Win win, int at)
{
    int64_t value = -1;
    OK(MPI_Fetch_and_op(0, &value, MPI_INT64_T, me, at, MPI_NO_OP, win));
    return value;
}

static int64_t by_get_accumulate(MPI_Win win, int at)
{
    int64_t values[2] = {-1, -1};
    OK(MPI_Get_accumulate(0, 0, MPI_INT64_T, values, 2, MPI_INT64_T, me, at, 2, MPI_INT64_T, MPI_NO_OP, win));
    return values[0];
}

static int64_t by_load(MPI_Win win, int at)
{
    OK(MPI_Win_sync(win));
    return *(volatile int64_t *)&base[at];
}

static void by_put(MPI_Win win, int at, int64_t value)
{
    MPI_Put(&value, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(next_rank, win);
}

static void by_store(MPI_Win win, int at, int64_t value)
{
    (void)win;
    *(volatile int64_t *)&theirs[at] = value;
}

/* The ranks leave together, within some tens of nanoseconds where each has a core. */
static void meet(int64_t round)
{
    __atomic_store_n(&base[ARRIVED], round, __ATOMIC_RELEASE);
    for (int looks = 0; __atomic_load_n(&theirs[ARRIVED], __ATOMIC_ACQUIRE) < round; looks++)
        if (looks > 1000)
            sched_yield();
}

/* Each step has a line of its own: the processor waits for it with the store, and has the one to load. */
static void both_store(MPI_Win win, void (*store)(MPI_Win, int, int64_t), int64_t (*load)(MPI_Win, int), int64_t *round)
{
    static signed char other[ROUNDS][STEPS];
    for (int i = 0; i < ROUNDS; i++) {
        meet(++*round);
        for (int step = 0; step < STEPS; step++) {
            store(win, step * LINE, *round);
            missed[i][step] = load(win, step * LINE) < *round;
        }
    }
    MPI_Sendrecv(missed, sizeof missed, MPI_BYTE, next_rank, 0, other, sizeof other, MPI_BYTE, next_rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int both = 0;
    for (int i = 0; i < ROUNDS * STEPS; i++)
        both += missed[i / STEPS][i % STEPS] && other[i / STEPS][i % STEPS];
    CHECK_EQ(both, 0);
}

int main(void)
{
    int64_t (*const loads[])(MPI_Win, int) = {by_get, by_fetch, by_get_accumulate, by_load};
    int64_t round = 0;
    MPI_Win win, threaded;
    MPI_Info info;
    MPI_Aint bytes;
    int unit;
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Win_allocate(WORDS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_shared_query(win, next_rank, &bytes, &unit, &theirs));
    CHECK(theirs != 0);
    memset(base, 0, WORDS * sizeof *base);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_win_scope", "thread");
    OK(MPIX_Win_dup_with_info(win, info, &threaded));
    MPI_Info_free(&info);
    OK(MPI_Win_lock_all(0, win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        both_store(threaded, by_put, loads[i], &round);
        both_store(win, by_put, loads[i], &round);
    }
    both_store(win, by_store, by_load, &round);
    OK(MPI_Win_free(&threaded));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    return check_pass();
}
