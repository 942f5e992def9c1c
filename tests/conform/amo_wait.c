/* Atomics and waiting: a PE that waits on a word or tests it sees only whole values of atomics of the same type.
 * Operations on a PE progress while it computes and does not call the library.
 * prints: ^PASS$
 */
#include "check.h"
#include <time.h>

static long turn, done, word[64];
static uint64_t halves;

/* A token goes round the ring by each kind of update; the receiver only waits. */
static void token_ring(void)
{
    enum { LAPS = 20 };
    for (long lap = 1; lap <= LAPS; lap++) {
        if (me != 0) {
            shmem_long_wait_until(&turn, SHMEM_CMP_GE, lap);
            CHECK_EQ(turn, lap);
        }
        switch (lap % 4) {
        case 0: shmem_long_atomic_set(&turn, lap, next_pe); break;
        case 1: shmem_long_atomic_inc(&turn, next_pe); break;
        case 2: CHECK_EQ(shmem_long_atomic_fetch_add(&turn, 1, next_pe), lap - 1); break;
        case 3: CHECK_EQ(shmem_long_atomic_swap(&turn, lap, next_pe), lap - 1); break;
        }
        if (me == 0) {
            shmem_long_wait_until(&turn, SHMEM_CMP_GE, lap);
            CHECK_EQ(turn, lap);
        }
    }
}

/* A 64-bit word whose halves always agree is never seen torn, neither by waiting nor by fetching. */
static void never_torn(void)
{
    enum { WRITES = 400 };
    for (uint64_t i = 1; i <= WRITES; i++) {
        shmem_uint64_atomic_set(&halves, i << 32 | i, next_pe);
        uint64_t seen = shmem_uint64_atomic_fetch(&halves, me);
        CHECK(seen >> 32 == (seen & 0xffffffff));
    }
    shmem_uint64_wait_until(&halves, SHMEM_CMP_EQ, (uint64_t)WRITES << 32 | WRITES);
    CHECK(shmem_uint64_test(&halves, SHMEM_CMP_EQ, (uint64_t)WRITES << 32 | WRITES) == 1);
    shmem_barrier_all();
}

/* PE 0 works without a call until a clock says so; the others complete operations on it meanwhile. */
static void progress(void)
{
    shmem_barrier_all();
    if (me != 0) {
        shmem_long_p(&word[me], me, 0);
        shmem_quiet();
        CHECK_EQ(shmem_long_g(&word[me], 0), me);
        CHECK_EQ(shmem_long_atomic_fetch_inc(&word[me], 0), me);
        shmem_long_atomic_inc(&done, 0);
        shmem_quiet();
    } else {
        struct timespec start, now;
        clock_gettime(CLOCK_MONOTONIC, &start);
        do {
            for (int i = 0; i < 100; i++)
                usleep(10); /* a computation that lets others have the processor */
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != npes - 1 && now.tv_sec - start.tv_sec < 20);
        CHECK_EQ(__atomic_load_n(&done, __ATOMIC_ACQUIRE), npes - 1);
        for (int pe = 1; pe < npes; pe++)
            CHECK_EQ(word[pe], pe + 1);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    token_ring();
    never_torn();
    progress();
    return check_pass();
}
