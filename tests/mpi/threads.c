/* Many threads of each rank at once: operations, flushes, derived types and lookups of several windows, and each makes windows of its own
 * while the others use theirs for the first time.
 * ranks: 2
 * ways: plain far */
#include "check.h"

#include <pthread.h>

enum { THREADS = 6, TURNS = 200, WINDOWS = 6 };

static MPI_Win win[WINDOWS];
static int64_t *base[WINDOWS];
static MPI_Datatype pairs;
static MPI_Comm comm[THREADS];

static void own_window(int id)
{
    int64_t *own, mine = me * THREADS + id;
    MPI_Win window;
    OK(MPI_Win_allocate(8, 8, MPI_INFO_NULL, comm[id], &own, &window));
    OK(MPI_Win_fence(0, window));
    OK(MPI_Put(&mine, 1, MPI_INT64_T, next_rank, 0, 1, MPI_INT64_T, window));
    OK(MPI_Win_fence(0, window));
    CHECK_EQ(*own, prev_rank * THREADS + id);
    OK(MPI_Win_free(&window));
}

static void *work(void *argument)
{
    int id = (int)(intptr_t)argument;
    int64_t one = 1, old, words[3], back[3];
    for (int turn = 0; turn < TURNS; turn++) {
        int w = (turn + id) % WINDOWS;
        MPI_Aint at = 10 + 4 * (MPI_Aint)(me * THREADS + id);
        for (int i = 0; i < 3; i++)
            words[i] = id * 1000 + turn + i;
        OK(MPI_Put(words, 1, pairs, next_rank, at, 1, pairs, win[w]));
        OK(MPI_Win_flush(next_rank, win[w]));
        memset(back, 0, sizeof back);
        OK(MPI_Get(back, 1, pairs, next_rank, at, 1, pairs, win[w]));
        OK(MPI_Win_flush(next_rank, win[w]));
        CHECK(back[0] == words[0] && back[1] == 0 && back[2] == words[2]);
        OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, next_rank, 0, MPI_SUM, win[w]));
        OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, MPI_SUM, win[w]));
        OK(MPI_Win_flush_all(win[w]));
        if (turn % 5 == 0)
            own_window(id);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    int64_t sums[2] = {0};
    check_start(MPI_THREAD_MULTIPLE);
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &pairs);
    MPI_Type_commit(&pairs);
    for (int w = 0; w < WINDOWS; w++) {
        OK(MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base[w], &win[w]));
        memset(base[w], 0, 800);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_lock_all(0, win[w]));
    }
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], 0, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    for (int w = 0; w < WINDOWS; w++)
        OK(MPI_Win_unlock_all(win[w]));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int w = 0; w < WINDOWS; w++)
        for (int i = 0; i < 2; i++)
            sums[i] += base[w][i];
    CHECK_EQ(sums[0], THREADS * TURNS);
    CHECK_EQ(sums[1], me == 0 ? THREADS * TURNS * ranks : 0);
    for (int w = 0; w < WINDOWS; w++)
        OK(MPI_Win_free(&win[w]));
    MPI_Type_free(&pairs);
    return check_pass();
}
