/* Counters: exact counts, data before the count, weights, consuming, resets, time limits, sets (man shmemx_ct).
 */
#include "../conform/check.h"

#include <shmemx.h>
#include <time.h>

enum { SENT = 1000, ROUNDS = 4000, BLOCK = 96 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Every PE sends to every PE, by all forms; nothing is lost and nothing counted twice. */
static void exact(shmemx_ct_t ct)
{
    static long words[64];
    shmemx_request_t all = SHMEMX_REQUEST_NULL;
    for (long i = 0; i < SENT; i++)
        for (int pe = 0; pe < npes; pe++) {
            if (i % 4 == 0)
                shmemx_long_put_ct(ct, &words[i % 64], &i, 1, pe);
            else if (i % 4 == 1)
                shmemx_putmem_ct_nbi(ct, &words[i % 64], &i, sizeof i, pe);
            else if (i % 4 == 2)
                shmemx_long_put_ct_nbe(ct, &words[i % 64], &i, 1, pe, &all);
            else
                shmemx_ctx_long_put_ct(SHMEM_CTX_DEFAULT, ct, &words[i % 64], &i, 1, pe);
        }
    shmemx_request_wait(&all);
    shmemx_request_free(&all);
    shmemx_ct_wait(ct, (long)SENT * npes);
    shmem_barrier_all();
    CHECK_EQ(shmemx_ct_get(ct), (long)SENT * npes);
    shmemx_ct_set(ct, 0);
    shmem_barrier_all();
}

/* The count is seen after the data, thousands of times: a ring of blocks, each answered by a bare post. */
static void data_first(shmemx_ct_t data, shmemx_ct_t room)
{
    static long block[BLOCK];
    long mine[BLOCK];
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < BLOCK; i++)
            mine[i] = round * 8 + me;
        shmemx_long_put_ct(data, block, mine, BLOCK, next_pe);
        shmemx_ct_wait(data, round);
        for (int i = 0; i < BLOCK; i++)
            if (block[i] != round * 8 + prev_pe)
                CHECK_EQ(block[i], round * 8 + prev_pe);
        shmemx_ct_add(room, 1, prev_pe);
        shmemx_ct_wait(room, round);
    }
    CHECK(shmemx_ct_get(data) == ROUNDS && shmemx_ct_get(room) == ROUNDS);
    shmem_barrier_all();
    shmemx_ct_set(data, 0);
    shmemx_ct_set(room, 0);
    shmem_barrier_all();
}

/* A counting get tells the target that its data has been taken: then it may be overwritten. */
static void taken(shmemx_ct_t ct)
{
    static long offer[16];
    for (long round = 1; round <= 500; round++) {
        for (int i = 0; i < 16; i++)
            offer[i] = round * 100 + me;
        shmem_barrier_all();
        for (int pe = 0; pe < npes; pe++) {
            long got[16];
            shmemx_request_t one = SHMEMX_REQUEST_NULL;
            if (round % 2)
                shmemx_long_get_ct(ct, got, offer, 16, pe);
            else
                shmemx_long_get_ct_nbe(ct, got, offer, 16, pe, &one);
            shmemx_request_wait(&one);
            for (int i = 0; i < 16; i++)
                CHECK_EQ(got[i], round * 100 + pe);
            shmemx_request_free(&one);
        }
        shmemx_ct_consume(ct, npes);
        memset(offer, 0xff, sizeof offer); /* nobody reads it any more */
    }
    CHECK_EQ(shmemx_ct_get(ct), 0);
    shmem_barrier_all();
}

static void weights(shmemx_ct_t ct)
{
    for (int pe = 0; pe < npes; pe++) {
        shmemx_ct_add(ct, 1000, pe);
        shmemx_ctx_ct_add(SHMEM_CTX_DEFAULT, ct, -1, pe);
        shmemx_ct_add(ct, 0, pe);
    }
    shmem_barrier_all();
    CHECK_EQ(shmemx_ct_get(ct), 999L * npes);
    CHECK(shmemx_ct_test(ct, 999L * npes) == 1 && shmemx_ct_test(ct, 999L * npes + 1) == 0);
    CHECK_EQ(shmemx_ct_fetch_reset(ct), 999L * npes);
    CHECK_EQ(shmemx_ct_get(ct), 0);
    shmem_barrier_all();
}

/* Resets race with arrivals: together they see each arrival once. */
static void resets(shmemx_ct_t ct)
{
    const long all = 5000L * (npes > 1 ? npes - 1 : 1);
    if (me != 0 || npes == 1)
        for (int i = 0; i < 5000; i++)
            shmemx_ct_add(ct, 1, 0);
    for (long sum = 0; me == 0 && sum != all;) {
        shmemx_ct_wait(ct, 1);
        sum += shmemx_ct_fetch_reset(ct);
        if (sum > all)
            CHECK_EQ(sum, all);
    }
    shmem_barrier_all();
    CHECK_EQ(shmemx_ct_get(ct), 0);
    shmem_barrier_all();
}

static void time_limits(shmemx_ct_t ct)
{
    double start = now();
    CHECK_EQ(shmemx_ct_wait_timeout(ct, 1, 0.05), 0);
    CHECK(now() - start >= 0.05 && now() - start < 20);
    start = now();
    CHECK_EQ(shmemx_ct_wait_timeout(ct, 1, 0), 0);
    CHECK_EQ(shmemx_ct_wait_timeout(ct, 1, -3), 0);
    CHECK_EQ(shmemx_ct_wait_timeout(ct, 0, 0), 1);
    CHECK(now() - start < 20);
    shmem_barrier_all();
    shmemx_ct_add(ct, 5, next_pe);
    CHECK_EQ(shmemx_ct_wait_timeout(ct, 5, 60), 1);
    CHECK_EQ(shmemx_ct_fetch_reset(ct), 5);
    shmem_barrier_all();
}

/* The one that is ready is found, and none of many that are ready is passed over. */
static void any(shmemx_ct_t *cts, size_t n)
{
    long values[8];
    int counts[8] = {0};
    for (size_t i = 0; i < n; i++)
        values[i] = (long)i + 1;
    CHECK_EQ(shmemx_ct_wait_any(cts, values, 0), SIZE_MAX);
    for (size_t i = 0; i < n; i++) {
        shmem_barrier_all();
        shmemx_ct_add(cts[i], (long)i + 1, next_pe);
        CHECK_EQ(shmemx_ct_wait_any(cts, values, n), i);
        shmemx_ct_consume(cts[i], (long)i + 1);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < n; i++)
        shmemx_ct_add(cts[i], (long)i + 1, next_pe);
    shmem_barrier_all();
    for (size_t i = 0; i < 5 * n; i++)
        counts[shmemx_ct_wait_any(cts, values, n)]++;
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(counts[i], 5);
        CHECK_EQ(shmemx_ct_fetch_reset(cts[i]), (long)i + 1);
    }
    shmem_barrier_all();
}

static void nothing_to_move(shmemx_ct_t ct)
{
    shmemx_putmem_ct(ct, NULL, NULL, 0, next_pe);
    shmemx_getmem_ct(ct, NULL, NULL, 0, next_pe);
    shmemx_ct_wait(ct, 2);
    CHECK_EQ(shmemx_ct_fetch_reset(ct), 2);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    shmemx_ct_t cts[8];
    for (int i = 0; i < 8; i++)
        shmemx_ct_create(&cts[i]);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(shmemx_ct_get(cts[i]), 0);
    shmem_barrier_all(); /* else a faster PE would already count in the first one */
    exact(cts[0]);
    data_first(cts[1], cts[2]);
    taken(cts[3]);
    weights(cts[4]);
    resets(cts[5]);
    time_limits(cts[6]);
    any(cts, 8);
    nothing_to_move(cts[7]);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(shmemx_ct_errors(cts[i]), 0);
        shmemx_ct_free(&cts[i]);
    }
    return check_pass();
}
