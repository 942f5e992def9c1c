/* Threads, at SHMEM_THREAD_MULTIPLE: threads of a PE put, get, add and wait at the same time on shared and on private
 * contexts; a thread that waits holds up no other; collectives on different teams run side by side; any thread may
 * allocate; what a level below MULTIPLE allows is done in turn.
 * prints: ^PASS$
 */
#include "check.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 60 };
static shmem_ctx_t shared_ctx;
static long sum, slot[THREADS], turn[THREADS];
static shmem_team_t team[THREADS];
static long gathered[THREADS][64], mine[THREADS];

struct job {
    int id;
};

/* Puts and gets on the shared context, a private one and the default one; atomics that must all count. */
static void *traffic(void *argument)
{
    int id = ((struct job *)argument)->id;
    shmem_ctx_t own;
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own), 0);
    for (long i = 0; i < ROUNDS; i++) {
        shmem_ctx_t ctx = i % 3 == 0 ? own : i % 3 == 1 ? shared_ctx : SHMEM_CTX_DEFAULT;
        long value = me * 1000 + i, got = -1;
        shmem_ctx_long_put_nbi(ctx, &slot[id], &value, 1, next_pe);
        shmem_ctx_quiet(ctx);
        shmem_ctx_long_get_nbi(ctx, &got, &slot[id], 1, next_pe);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(got, value);
        shmem_ctx_long_atomic_inc(ctx, &sum, 0);
        shmem_ctx_long_atomic_fetch_add(ctx, &sum, 1, 0);
    }
    shmem_ctx_quiet(shared_ctx);
    shmem_ctx_destroy(own);
    return NULL;
}

/* A token per thread goes round the PEs: each thread waits while the others move. */
static void *pass_token(void *argument)
{
    int id = ((struct job *)argument)->id;
    for (long lap = 1; lap <= ROUNDS / 4; lap++) {
        if (me != 0)
            shmem_long_wait_until(&turn[id], SHMEM_CMP_GE, lap);
        shmem_long_atomic_set(&turn[id], lap, next_pe);
        if (me == 0)
            while (shmem_long_test(&turn[id], SHMEM_CMP_GE, lap) == 0)
                sched_yield();
        CHECK(shmem_long_atomic_fetch(&turn[id], me) >= lap);
    }
    return NULL;
}

/* One team per thread; collectives on different teams do not disturb each other. */
static void *collect(void *argument)
{
    int id = ((struct job *)argument)->id;
    for (int i = 0; i < ROUNDS / 4; i++) {
        mine[id] = me * 100 + id + i;
        CHECK_EQ(shmem_long_fcollect(team[id], gathered[id], &mine[id], 1), 0);
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(gathered[id][pe], pe * 100 + id + i);
        CHECK_EQ(shmem_team_sync(team[id]), 0);
    }
    return NULL;
}

/* One thread after the other allocates and frees: collectives in one order, from changing threads. */
static void *allocate(void *argument)
{
    (void)argument;
    long *at = check_alloc(64);
    shmem_long_p(at, me, next_pe);
    shmem_barrier_all();
    CHECK_EQ(*at, prev_pe);
    shmem_barrier_all();
    shmem_free(at);
    return NULL;
}

static void run(void *(*body)(void *), int together)
{
    pthread_t thread[THREADS];
    struct job job[THREADS];
    for (int i = 0; i < THREADS; i++) {
        job[i].id = i;
        CHECK_EQ(pthread_create(&thread[i], NULL, body, &job[i]), 0);
        if (!together)
            CHECK_EQ(pthread_join(thread[i], NULL), 0);
    }
    for (int i = 0; together && i < THREADS; i++)
        CHECK_EQ(pthread_join(thread[i], NULL), 0);
    shmem_barrier_all();
}

int main(void)
{
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    check_who();
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    CHECK_EQ(shmem_ctx_create(0, &shared_ctx), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team[i]), 0);
    run(traffic, 1);
    CHECK_EQ(shmem_long_g(&sum, 0), 2L * THREADS * ROUNDS * npes);
    run(pass_token, 1);
    run(collect, 1);
    run(allocate, 0);
    for (int i = 0; i < THREADS; i++)
        shmem_team_destroy(team[i]);
    shmem_ctx_destroy(shared_ctx);
    return check_pass();
}
