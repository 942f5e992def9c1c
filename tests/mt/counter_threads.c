/* Counters under many threads of many PEs: exact counts, consumers that share one counter, waiters of all kinds at
 * once, private contexts.
 * pes: 1 2 4
 * timeout: 120
 */
#include "../conform/check.h"

#include <pthread.h>
#include <shmemx.h>

enum { THREADS = 8, SENT = 1500 };

static shmemx_ct_t counts, work, each[THREADS];
static long words[THREADS], consumed;

/* Half of the threads send, to all PEs; the other half consume what comes here. */
static void *send_and_consume(void *argument)
{
    long id = (long)argument;
    if (id % 2) {
        for (int i = 0; i < SENT / 10; i++) {
            shmemx_ct_consume(work, 10);
            __atomic_fetch_add(&consumed, 10, __ATOMIC_RELAXED);
        }
        return 0;
    }
    for (long i = 0; i < SENT; i++) {
        shmemx_long_put_ct(work, &words[id], &i, 1, next_pe);
        for (int pe = 0; pe < npes; pe++)
            shmemx_ct_add(counts, 1, pe);
    }
    shmemx_ct_wait(counts, (long)THREADS / 2 * SENT * npes);
    return 0;
}

/* Each thread has its counter and a partner thread on the next PE: a ring of tokens per thread. */
static void *ring(void *argument)
{
    long id = (long)argument;
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(id % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx), 0);
    for (long round = 1; round <= SENT / 3; round++) {
        if (me == 0) {
            long token = round * 8 + id;
            shmemx_ctx_long_put_ct(ctx, each[id], &words[id], &token, 1, next_pe);
        }
        switch (round % 3) {
        case 0: shmemx_ct_wait(each[id], round); break;
        case 1: CHECK_EQ(shmemx_ct_wait_timeout(each[id], round, 60), 1); break;
        default: CHECK_EQ(shmemx_ct_wait_any(&each[id], &round, 1), 0);
        }
        CHECK_EQ(words[id], round * 8 + id);
        if (me != 0)
            shmemx_ctx_long_put_ct(ctx, each[id], &words[id], &words[id], 1, next_pe);
    }
    shmem_ctx_destroy(ctx);
    return 0;
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    shmem_barrier_all();
    for (long id = 0; id < THREADS; id++)
        CHECK_EQ(pthread_create(&threads[id], 0, body, (void *)id), 0);
    for (int id = 0; id < THREADS; id++)
        pthread_join(threads[id], 0);
    shmem_barrier_all();
}

int main(void)
{
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    check_who();
    shmemx_ct_create(&counts);
    shmemx_ct_create(&work);
    for (int id = 0; id < THREADS; id++)
        shmemx_ct_create(&each[id]);
    run(send_and_consume);
    CHECK_EQ(shmemx_ct_get(counts), (long)THREADS / 2 * SENT * npes);
    CHECK_EQ(consumed, (long)THREADS / 2 * SENT);
    CHECK_EQ(shmemx_ct_get(work), 0);
    run(ring);
    CHECK_EQ(shmemx_ct_errors(counts), 0);
    return check_pass();
}
