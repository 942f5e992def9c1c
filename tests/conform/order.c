/* Memory ordering: litmus tests, in loops, of the promises of fence, quiet and pe_quiet, on the default and other
 * contexts.
 * prints: ^PASS$
 */
#include "check.h"

enum { ROUNDS = 300, LAPS = 60 };
static long data[4], flag, ack;
static uint64_t arrived;
static shmem_ctx_t ctx;

/* Put, fence, put: whoever sees the second has the first. The data come by another kind of operation each round. */
static void write_data(long round)
{
    static long source[4], nbi[4];
    long *direct = shmem_ptr(data, next_pe);
    switch (round % 6) {
    case 0: shmem_long_p(&data[0], round, next_pe); break;
    case 1: shmem_long_atomic_set(&data[0], round, next_pe); break;
    case 2: shmem_long_atomic_add(&data[0], round - shmem_long_g(&data[0], next_pe), next_pe); break;
    case 3:
        shmem_quiet(); /* the source is this process's again */
        nbi[0] = round;
        shmem_long_put_nbi(data, nbi, 4, next_pe);
        break;
    case 4:
        source[0] = round;
        shmem_long_iput(data, source, 1, 1, 1, next_pe);
        break;
    case 5:
        if (direct != NULL)
            *(volatile long *)direct = round;
        else
            shmem_long_p(&data[0], round, next_pe);
    }
}

static void fence_orders(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        write_data(round);
        shmem_fence();
        if (round & 1)
            shmem_long_atomic_inc(&flag, next_pe);
        else
            shmem_long_atomic_set(&flag, round, next_pe);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK_EQ(data[0], round);
        shmem_long_atomic_set(&ack, round, prev_pe); /* and only now may the neighbour overwrite */
        shmem_long_wait_until(&ack, SHMEM_CMP_GE, round);
    }
    shmem_barrier_all();
}

static void fence_on_context(void)
{
    flag = ack = 0;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_ctx_long_put_nbi(ctx, data, &round, 1, next_pe);
        shmem_ctx_fence(ctx);
        shmem_ctx_long_atomic_set(ctx, &flag, round, next_pe);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK_EQ(data[0], round);
        shmem_ctx_quiet(ctx);
        shmem_ctx_long_atomic_set(ctx, &ack, round, prev_pe);
        shmem_long_wait_until(&ack, SHMEM_CMP_GE, round);
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

/* Two neighbours write, quiet, and read the other's word, for many words side by side at about the same time: of each pair at
 * least one sees the other's write. */
static void store_buffers(void)
{
    enum { WORDS = 2000, BATCHES = 12 };
    static long word[WORDS], seen[WORDS], theirs[WORDS], begin;
    int mate = me ^ 1;
    for (long batch = 1; batch <= BATCHES; batch++) {
        shmem_barrier_all();
        if (mate >= npes)
            continue;
        shmem_long_atomic_set(&begin, batch, mate);
        shmem_long_wait_until(&begin, SHMEM_CMP_GE, batch);
        for (int i = 0; i < WORDS; i++) {
            shmem_long_atomic_set(&word[i], batch, batch & 1 ? me : mate);
            shmem_quiet();
            seen[i] = shmem_long_atomic_fetch(&word[i], batch & 1 ? mate : me);
        }
        shmem_long_put_signal(theirs, seen, WORDS, &arrived, 1, SHMEM_SIGNAL_ADD, mate);
        CHECK(shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)batch) == (uint64_t)batch);
        int neither = 0;
        for (int i = 0; i < WORDS; i++)
            neither += seen[i] < batch && theirs[i] < batch;
        CHECK_EQ(neither, 0);
    }
    shmem_barrier_all();
}

/* After quiet a third PE, told by a message, sees what was put: completion is for all PEs. */
static void visible_to_third(void)
{
    static long value, told, back;
    for (long lap = 1; lap <= LAPS; lap++) {
        if (me == 0) {
            shmem_long_p(&value, lap, npes - 1);
            if (lap & 1)
                shmem_quiet();
            else
                shmem_pe_quiet((int[]){npes - 1}, 1);
            shmem_long_atomic_set(&told, lap, npes / 2);
        }
        if (me == npes / 2) {
            shmem_long_wait_until(&told, SHMEM_CMP_GE, lap);
            CHECK_EQ(shmem_long_g(&value, npes - 1), lap);
            shmem_long_atomic_set(&back, lap, 0);
        }
        if (me == 0)
            shmem_long_wait_until(&back, SHMEM_CMP_GE, lap);
    }
    shmem_barrier_all();
}

/* quiet and pe_quiet also end non-blocking gets and fetches; pe_quiet takes a PE twice, and no PE at all. */
static void quiet_ends_fetches(void)
{
    static long words[8];
    long got[8], fetched;
    int targets[] = {next_pe, prev_pe, me, next_pe};
    for (int i = 0; i < 8; i++)
        words[i] = me * 100 + i;
    shmem_barrier_all();
    for (int lap = 0; lap < LAPS; lap++) {
        memset(got, 0, sizeof got);
        fetched = -1;
        shmem_long_get_nbi(got, words, 8, next_pe);
        shmem_long_atomic_fetch_nbi(&fetched, &words[1], prev_pe);
        if (lap % 2)
            shmem_quiet();
        else
            shmem_pe_quiet(targets, 4);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(got[i], next_pe * 100 + i);
        CHECK_EQ(fetched, prev_pe * 100 + 1);
        memset(got, 0, sizeof got);
        shmem_ctx_long_get_nbi(ctx, got, words, 8, prev_pe);
        shmem_ctx_pe_quiet(ctx, targets, 2);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(got[i], prev_pe * 100 + i);
    }
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    shmem_barrier_all();
}

/* No operation on an invalid context. */
static void invalid_context(void)
{
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    fence_orders();
    fence_on_context();
    store_buffers();
    visible_to_third();
    quiet_ends_fetches();
    invalid_context();
    shmem_ctx_destroy(ctx);
    return check_pass();
}
