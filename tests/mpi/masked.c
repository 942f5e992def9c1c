/* Threads that block every signal store to the memory of created and attached windows while those come and go: nobody is
 * killed and no store is lost. Pages may move again once no thread blocks SIGSEGV.
 * ranks: 2 */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum { N = 262144, TURNS = 30 };

static int64_t *memory;
static volatile int stop, counting;

static void *count(void *argument)
{
    volatile int64_t *word = argument;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    for (int64_t n = 1; !stop; n++) {
        word[0] = word[N / 2] = word[N - 1] = n;
        CHECK(word[0] == n && word[N / 2] == n && word[N - 1] == n);
        counting = 1;
    }
    return 0;
}

static void put(MPI_Win win, MPI_Aint at)
{
    int64_t value = 7000 + me;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT64_T, next_rank, at, 1, MPI_INT64_T, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQ(memory[100], 7000 + prev_rank);
    memory[100] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void created(void)
{
    MPI_Win win;
    OK(MPI_Win_create(memory, N * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    put(win, 100);
    OK(MPI_Win_free(&win));
}

static void attached(void)
{
    MPI_Win win;
    MPI_Aint mine, theirs;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, N * 8));
    MPI_Get_address(&memory[100], &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, prev_rank, 0, &theirs, 1, MPI_AINT, next_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    put(win, theirs);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
}

static void start(pthread_t *thread)
{
    stop = counting = 0;
    CHECK(pthread_create(thread, 0, count, memory) == 0);
    while (!counting)
        sched_yield();
}

static void end(pthread_t thread)
{
    stop = 1;
    pthread_join(thread, 0);
}

/* The thread begins when the pages have moved, and they must stay until it ends. */
static void begins_late(int frees)
{
    MPI_Win win;
    pthread_t thread;
    OK(MPI_Win_create(memory, N * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    start(&thread);
    put(win, 100);
    OK(MPI_Win_free(&win));
    created();
    end(thread);
    if (!frees)
        return;
    free(memory); /* the pages had no chance to go back before */
    memory = aligned_alloc(4096, N * 8);
    CHECK(memory != 0);
    memset(memory, 0, N * 8);
}

int main(void)
{
    pthread_t thread;
    check_start(MPI_THREAD_FUNNELED);
    memory = aligned_alloc(4096, N * 8);
    CHECK(memory != 0);
    memset(memory, 0, N * 8);
    start(&thread);
    for (int turn = 0; turn < TURNS; turn++) {
        created();
        attached();
    }
    end(thread);
    created();
    for (int turn = 0; turn < 4; turn++) {
        begins_late(turn % 2);
        created();
        attached();
    }
    free(memory);
    return check_pass();
}
