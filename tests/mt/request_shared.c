/* One shared request, eight threads of every PE: they issue, test, wait and read through it at once; private requests
 * beside it; pending ones that one thread starts and another waits for.
 * pes: 1 2 4
 * timeout: 120
 */
#include "../conform/check.h"

#include <pthread.h>
#include <shmemx.h>

enum { THREADS = 8, ROUNDS = 400 };

static long words[THREADS * 8], adds, fetched[THREADS];
static shmemx_request_t shared, handed[THREADS];
static int given[THREADS];
static int on_node; /* all PEs share memory: operations complete as they are issued */

/* What I issued is complete after a wait of mine, whoever else issues and waits. */
static void *issue_and_wait(void *argument)
{
    long id = (long)argument;
    for (long round = 1; round <= ROUNDS; round++) {
        long value = round * 16 + id, back = 0;
        shmemx_long_put_nbe(&words[id * 8], &value, 1, next_pe, &shared);
        shmemx_long_atomic_inc_nbe(&adds, next_pe, &shared);
        if (round % 3 == 0)
            shmemx_request_fence(&shared);
        if (round % 2)
            shmemx_request_wait(&shared);
        else if (on_node)
            CHECK_EQ(shmemx_request_test(&shared), 1);
        else
            while (!shmemx_request_test(&shared))
                ;
        shmemx_long_get_nbe(&back, &words[id * 8], 1, next_pe, &shared);
        shmemx_long_atomic_fetch_nbe(&fetched[id], &words[id * 8], next_pe, &shared);
        shmemx_request_wait(&shared);
        CHECK(back == value && fetched[id] == value);
        CHECK(!on_node || shmemx_request_pending(shared) == 0); /* else other threads' may be under way */
    }
    return 0;
}

static void *private_requests(void *argument)
{
    long id = (long)argument;
    shmem_ctx_t ctx;
    shmemx_request_t mine;
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_PRIVATE, &mine), 0);
    for (long round = 1; round <= ROUNDS; round++) {
        long value = -round * 16 - id, back = 0;
        shmemx_ctx_long_put_nbe(ctx, &words[id * 8], &value, 1, next_pe, &mine);
        shmemx_request_wait(&mine);
        shmemx_ctx_long_get_nbe(ctx, &back, &words[id * 8], 1, next_pe, &mine);
        shmemx_request_wait(&mine);
        CHECK_EQ(back, value);
    }
    shmemx_request_free(&mine);
    shmem_ctx_destroy(ctx);
    return 0;
}

/* Waits for what the main thread started and hands over; all threads make progress for each other. */
static void *wait_for_handed(void *argument)
{
    long id = (long)argument;
    for (int round = 1; round <= ROUNDS / 4; round++) {
        while (__atomic_load_n(&given[id], __ATOMIC_ACQUIRE) != round)
            sched_yield();
        if (id % 2)
            shmemx_request_wait(&handed[id]);
        else
            while (!shmemx_request_test(&handed[id]))
                continue;
        shmemx_request_free(&handed[id]);
        __atomic_store_n(&given[id], -round, __ATOMIC_RELEASE);
    }
    return 0;
}

static void hand_over(int round)
{
    for (int id = 0; id < THREADS; id++) {
        shmemx_request_t parts[2] = {SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL};
        shmemx_barrier_all_nbe(&parts[0]);
        CHECK_EQ(shmemx_long_max_reduce_nbe(SHMEM_TEAM_WORLD, &words[id], &words[id], 1, &parts[1]), 0);
        shmemx_request_merge(&handed[id], 2, parts);
        __atomic_store_n(&given[id], round, __ATOMIC_RELEASE);
    }
    for (int id = 0; id < THREADS; id++)
        while (__atomic_load_n(&given[id], __ATOMIC_ACQUIRE) != -round)
            sched_yield();
}

static void run(void *(*body)(void *), void (*beside)(void))
{
    pthread_t threads[THREADS];
    shmem_barrier_all();
    for (long id = 0; id < THREADS; id++)
        CHECK_EQ(pthread_create(&threads[id], 0, body, (void *)id), 0);
    if (beside)
        beside();
    for (int id = 0; id < THREADS; id++)
        pthread_join(threads[id], 0);
    shmem_barrier_all();
}

static void hand_over_all(void)
{
    for (int round = 1; round <= ROUNDS / 4; round++)
        hand_over(round);
}

int main(void)
{
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    check_who();
    on_node = shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes;
    CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_SHARED, &shared), 0);
    run(issue_and_wait, 0);
    CHECK_EQ(adds, (long)THREADS * ROUNDS);
    CHECK_EQ(shmemx_request_test(&shared), 1);
    shmemx_request_free(&shared);
    run(private_requests, 0);
    run(wait_for_handed, hand_over_all);
    return check_pass();
}
