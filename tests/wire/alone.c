/* A PE that computes, with nobody to serve messages, receives puts, gets and the network's atomics: the network does them by itself
 * (sim), and counts (sim, sockets: 2 for the second argument). Messages wait for it (1), which shows that the test can tell.
 * pes: 2
 * env: LATERAL_PROGRESS=poll LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=sim:ucx UCX_TLS=tcp,self
 * prints: ^PASS$
 * env: LATERAL_TRANSPORTS=sim,order=1:ucx
 * case: network
 * args: 1 0
 * case: held
 * env: LATERAL_TRANSPORTS=sim,seed=5,hold=60,order=1,counters=4:ucx
 * args: 1 2
 * labels: again
 * case: long
 * args: 3 0
 * labels: again
 * case: messages
 * env: LATERAL_WIRE=messages
 * args: 0.5 1
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <time.h>

enum { LONGS = 1 << 15, ROUNDS = 20, MOST_SECONDS = 30 };

static long ready, done, small, *large, *word, source[LONGS], got[LONGS];
static shmemx_ct_t ct; /* null: the network does not count */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The first operations connect and fetch the keys. */
static void meet(void)
{
    if (me == 0)
        for (int i = 0; i < 3; i++) {
            shmem_long_p(&small, -1, 1);
            if (ct)
                shmemx_long_put_ct(ct, large, source, 1, 1);
            shmem_long_put(large, source, LONGS, 1);
            shmem_quiet();
            shmem_long_atomic_set(word, 100, 1);
        }
    shmem_barrier_all();
}

/* Looks at its own memory at the end of the computation, before it calls the library again. The computation lasts until PE 0 is
 * through, where the network does it all. */
static void compute(double seconds, int waits)
{
    const volatile long *through = &done;
    shmem_long_p(&ready, 1, 0);
    shmem_quiet();
    for (double start = now(); now() < start + seconds || (!waits && !*through && now() < start + MOST_SECONDS);) {
    }
    CHECK_EQ(*through, !waits);
    const volatile long *at = &small;
    CHECK_EQ(*at, waits ? -1 : ROUNDS);
    CHECK_EQ(ct ? shmemx_ct_get(ct) : 3, ct ? 3 + 2 * ROUNDS : 3);
    CHECK_EQ(*(const volatile long *)word, waits ? 100 : 100 + 7 * ROUNDS);
    for (int i = 0; i < LONGS && !waits; i++)
        CHECK_EQ(large[i], ROUNDS + i);
}

static void disturb(void)
{
    shmem_long_wait_until(&ready, SHMEM_CMP_EQ, 1);
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < LONGS; i++)
            source[i] = round + i;
        shmem_long_put(large, source, LONGS, 1);
        for (size_t count = 1; ct && count <= LONGS; count += LONGS - 1)
            shmemx_long_put_ct(ct, large, source, count, 1);
        shmem_fence();
        shmem_long_p(&small, round, 1);
        shmem_quiet();
        shmem_long_get(got, large, LONGS, 1);
        CHECK_EQ(got[LONGS - 1], round + LONGS - 1);
        CHECK_EQ(shmem_long_g(&small, 1), round);
        CHECK_EQ(shmem_long_atomic_fetch_add(word, 3, 1), 100 + 7 * (round - 1));
        shmem_long_atomic_add(word, 4, 1);
        shmem_quiet();
    }
    shmem_long_p(&done, 1, 1);
    shmem_quiet();
}

int main(int argc, char **argv)
{
    check_start();
    CHECK(argc == 3);
    const double seconds = atof(argv[1]);
    const int waits = atoi(argv[2]) == 1;
    if (atoi(argv[2]) == 2)
        shmemx_ct_create(&ct);
    large = shmem_calloc(LONGS, sizeof *large);
    word = shmem_malloc_with_hints(sizeof *word, SHMEM_MALLOC_ATOMICS_REMOTE);
    *word = 0;
    shmem_barrier_all();
    meet();
    if (me == 1)
        compute(seconds, waits);
    else
        disturb();
    shmem_barrier_all();
    shmem_free(large);
    shmem_free(word);
    return check_pass();
}
