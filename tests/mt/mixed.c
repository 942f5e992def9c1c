/* Threads of every PE at once: puts, gets, atomics, signals, contexts, waits (THREAD_MULTIPLE).
 * pes: 1 2 4
 */
#include <assert.h>
#include <pthread.h>
#include <shmem.h>

enum { THREADS = 8, ROUNDS = 300 };

static long slots[THREADS], sum, flags[THREADS];
static uint64_t signals[THREADS];
static int me, npes;

static void *work(void *argument)
{
    long id = (long)argument;
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    shmem_ctx_t ctx;
    assert(shmem_ctx_create(id % 2 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED, &ctx) == 0);
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_ctx_long_p(ctx, &slots[id], round * 10 + me, next);
        shmem_ctx_quiet(ctx);
        shmem_long_put_signal(&flags[id], &round, 1, &signals[id], 1, SHMEM_SIGNAL_ADD, next);
        shmem_signal_wait_until(&signals[id], SHMEM_CMP_GE, (uint64_t)round);
        assert(shmem_long_g(&slots[id], me) / 10 >= round);
        shmem_ctx_long_atomic_add(ctx, &sum, 1, next);
        (void)shmem_long_atomic_fetch(&sum, before);
    }
    shmem_ctx_destroy(ctx);
    return 0;
}

int main(void)
{
    int provided;
    assert(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    pthread_t threads[THREADS];
    for (long id = 0; id < THREADS; id++)
        assert(pthread_create(&threads[id], 0, work, (void *)id) == 0);
    for (int id = 0; id < THREADS; id++)
        pthread_join(threads[id], 0);
    shmem_barrier_all();
    assert(sum == (long)THREADS * ROUNDS);
    for (int id = 0; id < THREADS; id++)
        assert(slots[id] == ROUNDS * 10 + (me + npes - 1) % npes && flags[id] == ROUNDS);
    shmem_finalize();
    return 0;
}
