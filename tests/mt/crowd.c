/* Many more threads than cores wait for a peer of another node: those that sleep are woken when their operations are complete, and
 * somebody always leads (src/uccs/core/wait.h). Threads put, flush and get, by one context and by their own; some leave the crowd
 * early, so that leaders go while others sleep.
 * pes: 2
 * case: thread
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp
 * case: poll
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=tcp LATERAL_PROGRESS=poll
 */
#include "../conform/check.h"

#include <pthread.h>

enum { THREADS = 24, ROUNDS = 160 };

static long words[THREADS], sum;

static void put_and_get(shmem_ctx_t ctx, long id, long round)
{
    shmem_ctx_long_p(ctx, &words[id], round, next_pe);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_ctx_long_g(ctx, &words[id], next_pe) == round);
    shmem_ctx_long_atomic_add(ctx, &sum, 1, next_pe);
}

static void *wait_among_many(void *argument)
{
    const long id = (long)argument, rounds = ROUNDS * (1 + id % 3) / 3;
    shmem_ctx_t own = SHMEM_CTX_DEFAULT;
    if (id % 2)
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) == 0);
    for (long i = 1; i <= rounds; i++)
        put_and_get(own, id, i);
    shmem_ctx_quiet(own);
    if (id % 2)
        shmem_ctx_destroy(own);
    return (void *)rounds;
}

int main(void)
{
    pthread_t threads[THREADS];
    long wanted = 0;
    int level;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) == 0);
    check_who();
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], 0, wait_among_many, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *rounds;
        CHECK(pthread_join(threads[i], &rounds) == 0);
        wanted += (long)rounds;
    }
    shmem_barrier_all();
    CHECK(sum == wanted);
    return check_pass();
}
