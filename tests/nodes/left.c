/* What a computing thread has left on its own worker leaves soon, also while another thread polls the service worker without a
 * pause.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self LATERAL_LANES=2
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <pthread.h>
#include <time.h>

enum { ROUNDS = 5 };
static const double most_seconds = 0.5; /* a millisecond where nobody else wants the cores */

static long flag, answer, word;
static int over;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *poll_service_lane(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        (void)shmem_long_g(&word, 1);
    return unused;
}

/* Computes until the other PE has answered. */
static void leave_one(shmem_ctx_t ctx, long round)
{
    double end = now() + most_seconds;
    if (round % 2)
        shmem_ctx_long_put_nbi(ctx, &flag, &round, 1, 1);
    else
        for (int i = 0; i < 2; i++) /* the second one may share a message with others */
            shmem_ctx_long_atomic_set(ctx, &flag, round, 1);
    while (now() < end && __atomic_load_n(&answer, __ATOMIC_ACQUIRE) != round)
        ;
    CHECK_EQ(__atomic_load_n(&answer, __ATOMIC_ACQUIRE), round);
    shmem_ctx_quiet(ctx);
}

int main(void)
{
    int provided;
    shmem_ctx_t ctx;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_who();
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    if (me == 0)
        CHECK_EQ(pthread_create(&thread, 0, poll_service_lane, 0), 0);
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_barrier_all();
        if (me == 0)
            leave_one(ctx, round);
        else {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
            shmem_long_p(&answer, round, 0);
        }
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    if (me == 0)
        CHECK_EQ(pthread_join(thread, 0), 0);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
