/* Signaling: signal_add, signal_set, signal_fetch, signal_wait_until.
 * Updates of one kind are atomic among each other, with fetching and with waiting; adding wraps; wait_until returns
 * the value that satisfied it; waits may also use the point-to-point routines.
 * prints: ^PASS$
 */
#include "check.h"

static uint64_t word, sum, turn;
static shmem_ctx_t ctx;

static void set_and_add(uint64_t *sig)
{
    *sig = 5;
    shmem_barrier_all();
    shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, sig, 100, next_pe);
    shmem_barrier_all();
    CHECK(shmem_signal_fetch(sig) == 100);
    shmem_barrier_all();
    shmem_ctx_signal_add(ctx, sig, 11, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(shmem_signal_fetch(sig) == 111);
    shmem_barrier_all();
    shmem_ctx_signal_set(ctx, sig, UINT64_MAX, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(shmem_signal_fetch(sig) == UINT64_MAX);
    shmem_barrier_all();
    shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, sig, 3, next_pe);
    shmem_barrier_all();
    CHECK(shmem_signal_fetch(sig) == 2);
    shmem_barrier_all();
}

/* All six comparisons, each with the value that satisfies it, which is returned. Unsigned throughout. */
static void comparisons(void)
{
    const uint64_t top = (uint64_t)1 << 63;
    word = 0;
    shmem_barrier_all();
    shmem_ctx_signal_set(ctx, &word, top + 9, next_pe);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_NE, 0) == top + 9);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, top + 9) == top + 9);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_GT, 1) == top + 9);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_GE, top + 9) == top + 9);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_LT, UINT64_MAX) == top + 9);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_LE, top + 9) == top + 9);
    CHECK(shmem_uint64_test(&word, SHMEM_CMP_EQ, top + 9) == 1);
    shmem_barrier_all();
}

/* Every PE adds to every PE, by all the ways of adding: nothing is lost. */
static void adding(void)
{
    enum { ROUNDS = 100 };
    static char byte[16];
    char c = 1;
    for (int i = 0; i < ROUNDS; i++)
        for (int pe = 0; pe < npes; pe++) {
            shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, &sum, 1, pe);
            shmem_putmem_signal(&byte[me], &c, 1, &sum, 2, SHMEM_SIGNAL_ADD, pe);
            shmem_ctx_putmem_signal_nbi(ctx, &byte[me], &c, 0, &sum, 4, SHMEM_SIGNAL_ADD, pe);
        }
    shmem_ctx_quiet(ctx);
    CHECK(shmem_signal_wait_until(&sum, SHMEM_CMP_GE, 7 * ROUNDS * npes) == 7 * ROUNDS * (uint64_t)npes);
    shmem_barrier_all();
}

/* A token by signals alone; between the signals a fence orders a plain put. */
static void token(void)
{
    static long load;
    for (uint64_t lap = 1; lap <= 30; lap++) {
        if (me != 0) {
            CHECK(shmem_signal_wait_until(&turn, SHMEM_CMP_GE, lap) == lap);
            CHECK_EQ(load, lap);
        }
        shmem_long_p(&load, (long)lap, next_pe);
        shmem_fence();
        shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, &turn, lap, next_pe);
        if (me == 0) {
            CHECK(shmem_signal_wait_until(&turn, SHMEM_CMP_GE, lap) == lap);
            CHECK_EQ(load, lap);
        }
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    uint64_t *heap = shmem_malloc_with_hints(sizeof *heap, SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(heap != NULL);
    set_and_add(&word);
    set_and_add(heap);
    comparisons();
    adding();
    token();
    shmem_free(heap);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
