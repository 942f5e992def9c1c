/* Counters of PEs on other nodes: an arrival for a counter that was freed counts for no later one, and a count without data
 * keeps the order of its context, whose quiet completes it.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self
 * prints: ^PASS$
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { LONG = 1 << 20, SMALL = 64, ROUNDS = 30 };

static long cells[SMALL], values[SMALL];
static char *data, *source;
static shmem_ctx_t ctx;

/* Puts and gets of all sizes that are still under way when their counter is freed. */
static void leave_some(shmemx_ct_t ct, int round)
{
    for (int i = 0; i < SMALL && round % 2; i++)
        shmemx_ctx_putmem_ct_nbi(ctx, ct, &cells[i], &values[i], sizeof *values, next_pe);
    shmemx_ctx_putmem_ct_nbi(ctx, ct, data, source, LONG, next_pe);
    shmemx_ctx_getmem_ct_nbi(ctx, ct, source + LONG, data + LONG, LONG, next_pe);
}

static void test_freed(void)
{
    long errors = 0;
    for (int round = 0; round < ROUNDS; round++) {
        shmemx_ct_t old, new;
        shmemx_ct_create(&old);
        shmem_barrier_all();
        leave_some(old, round);
        shmemx_ct_free(&old);
        shmemx_ct_create(&new);
        CHECK_EQ(shmemx_ct_get(new), 0);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        CHECK_EQ(shmemx_ct_get(new), 0);
        errors += shmemx_ct_errors(new);
        shmem_barrier_all();
        shmemx_ct_free(&new);
    }
    CHECK(errors > 0); /* else nothing was under way */
}

static void test_add_behind_fence(shmemx_ct_t ct)
{
    for (int round = 1; round <= ROUNDS; round++) {
        memset(source, round, LONG);
        shmem_barrier_all();
        shmem_ctx_putmem_nbi(ctx, data, source, LONG, next_pe);
        shmem_ctx_fence(ctx);
        shmemx_ctx_ct_add(ctx, ct, 1, next_pe);
        shmemx_ct_wait(ct, round);
        CHECK_EQ(((volatile char *)data)[0], round);
        CHECK_EQ(((volatile char *)data)[LONG - 1], round);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
    }
}

/* The sender tells of its quiet by another way, the service worker. */
static void test_add_and_quiet(shmemx_ct_t ct)
{
    static long told;
    shmemx_ct_set(ct, 0);
    shmem_barrier_all();
    for (int round = 1; round <= ROUNDS * 10; round++) {
        shmem_ctx_putmem_nbi(ctx, data, source, LONG / 8, next_pe); /* it is busy */
        shmemx_ctx_ct_add(ctx, ct, 1, next_pe);
        shmem_ctx_quiet(ctx);
        shmem_long_p(&told, round, next_pe);
        shmem_long_wait_until(&told, SHMEM_CMP_GE, round);
        CHECK(shmemx_ct_get(ct) >= round);
    }
    shmem_barrier_all();
}

int main(void)
{
    shmemx_ct_t ct;
    check_start();
    data = check_alloc(2 * LONG);
    source = check_alloc(2 * LONG);
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx), 0);
    test_freed();
    shmemx_ct_create(&ct);
    test_add_behind_fence(ct);
    test_add_and_quiet(ct);
    shmemx_ct_free(&ct);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
