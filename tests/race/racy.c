/* Programs of three PEs with one race each. */
#include "programs.h"

#include <stdlib.h>

static long global[2];

void racy_flag_without_fence(void)
{
    if (me == 0) {
        shmem_long_p(a, 5, 1);
        shmem_long_p(FLAG, 1, 1);
    } else if (me == 1) {
        shmem_long_wait_until(FLAG, EQ, 1);
        use(a[0]);
    }
}
void racy_put_put(void)
{
    if (me < 2)
        shmem_long_put(a, other, 4, 2);
}
void racy_put_load(void)
{
    if (me == 0)
        shmem_long_put(a, other, 4, 1);
    if (me == 1)
        use(a[2]);
}
void racy_put_store(void)
{
    if (me == 0)
        shmem_putmem(a, other, 9, 1);
    if (me == 1)
        ((char *)a)[8] = 3;
}
void racy_get_store(void)
{
    if (me == 0)
        shmem_long_get(other, a, 2, 1);
    if (me == 1)
        a[1] = 3;
}
void racy_sync_does_not_complete(void)
{
    if (me == 0)
        shmem_long_p(a, 5, 1);
    shmem_sync_all();
    if (me == 1)
        use(a[0]);
}
void racy_source_reused(void)
{
    if (me == 0) {
        shmem_long_put_nbi(a + 8, a, 4, 1);
        a[3] = 1;
        shmem_quiet();
    }
}
void racy_get_used_early(void)
{
    if (me == 0) {
        shmem_long_get_nbi(a, a + 8, 4, 1);
        use(a[1]);
        shmem_quiet();
    }
}
void racy_quiet_of_other_context(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    if (me == 0)
        shmem_ctx_long_put(ctx, a, other, 2, 1);
    shmem_barrier_all();
    if (me == 1)
        use(a[0]);
    shmem_barrier_all();
    shmem_ctx_destroy(ctx);
}
void racy_two_puts_of_one(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_long_p(a, 2, 1);
    }
}
void racy_put_then_get(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        use(shmem_long_g(a, 1));
    }
}
void racy_atomic_and_put(void)
{
    if (me == 0)
        shmem_long_atomic_add(a, 1, 2);
    if (me == 1)
        shmem_long_p(a, 1, 2);
}
void racy_atomic_and_load(void)
{
    if (me == 0)
        shmem_long_atomic_inc(a, 1);
    if (me == 1)
        use(a[0]);
}
void racy_signal_of_other_data(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_long_put_signal(a + 8, other, 2, signals, 1, SHMEM_SIGNAL_SET, 1);
    } else if (me == 1) {
        shmem_signal_wait_until(signals, EQ, 1);
        use(a[0]);
    }
}
void racy_lock_of_one(void)
{
    if (me == 0)
        shmem_set_lock(FLAG);
    if (me < 2)
        shmem_long_p(a, shmem_long_g(a, 2) + 1, 2);
    if (me == 0)
        shmem_clear_lock(FLAG);
}
void racy_two_locks(void)
{
    if (me < 2) {
        shmem_set_lock(FLAG + me);
        shmem_long_p(a, shmem_long_g(a, 2) + 1, 2);
        shmem_clear_lock(FLAG + me);
    }
}
void racy_put_into_broadcast(void)
{
    if (me == 2)
        shmem_long_p(a + 8, 1, 1);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, a + 8, a, 2, 0);
}
void racy_broadcast_is_no_barrier(void)
{
    if (me == 1)
        a[20] = 1;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, a + 8, a, 2, 0);
    if (me == 2)
        use(shmem_long_g(a + 20, 1));
}
void racy_pointer(void)
{
    long *there = me == 0 ? shmem_ptr(a, 1) : 0;
    if (there)
        *there = 1;
    if (me == 1)
        use(a[0]);
}
void racy_memset(void)
{
    if (me == 0)
        shmem_long_get(other, a, 30, 1);
    if (me == 1)
        memset(a, 1, 30 * sizeof *a);
}
void racy_load_before_wait(void)
{
    if (me == 0) {
        shmem_long_p(a, 5, 1);
        shmem_fence();
        shmem_long_p(FLAG, 1, 1);
    } else if (me == 1) {
        use(a[0]);
        shmem_long_wait_until(FLAG, EQ, 1);
    }
}
void racy_flag_reset(void)
{
    if (me == 0) {
        shmem_long_atomic_set(FLAG, 1, 1);
        shmem_long_wait_until(FLAG + 1, EQ, 1); /* an addition that the wait has seen is no race */
        shmem_long_atomic_set(FLAG, 2, 1);
    } else if (me == 1) {
        shmem_long_wait_until(FLAG, GE, 1);
        shmem_long_atomic_set(FLAG + 1, 1, 0);
        *FLAG = 0; /* behind what PE 0 waits for */
    }
}
void racy_before_count(void)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    if (me == 0)
        shmemx_long_put_ct(ct, a, other, 4, 1);
    if (me == 1) {
        use(a[3]);
        shmemx_ct_wait(ct, 1);
    }
    shmemx_ct_free(&ct);
}
void racy_request_not_waited(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    if (me == 0)
        shmemx_long_put_nbe(a, other, 4, 1, &request);
    shmem_sync_all();
    if (me == 1)
        use(a[3]);
    if (me == 0)
        shmemx_request_wait_free(&request);
}
void racy_strided(void)
{
    if (me == 0)
        shmem_long_iput(a, other, 2, 1, 5, 2);
    if (me == 1)
        shmem_long_p(a + 6, 1, 2);
}
void racy_reduce_source(void)
{
    if (me == 1)
        shmem_long_p(a, 1, 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, a + 8, a, 1);
}
void racy_global(void)
{
    if (me == 0)
        shmem_long_p(&global[0], 1, 1);
    if (me == 1)
        global[0]++;
}
void racy_fence_to_other_pe(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_fence();
        shmem_long_p(FLAG, 1, 2);
    } else if (me == 2) {
        shmem_long_wait_until(FLAG, EQ, 1);
        shmem_long_p(FLAG, 1, 1);
    } else {
        shmem_long_wait_until(FLAG, EQ, 1);
        use(a[0]);
    }
}
void racy_team_of_others(void)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
    if (me == 0)
        a[0] = 1;
    if (me < 2)
        shmem_team_sync(team);
    if (me == 2)
        use(shmem_long_g(a, 0));
    if (me < 2)
        shmem_team_destroy(team);
}
void racy_half_a_word(void)
{
    if (me == 0)
        shmem_int_p((int *)a + 1, 1, 1);
    if (me == 1)
        use(a[0]);
}
void racy_wait_for_one_of_two(void)
{
    if (me < 2) {
        shmem_long_p(a + me, 1, 2);
        shmem_fence();
        shmem_long_atomic_set(FLAG + me, 1, 2);
    } else {
        shmem_long_wait_until(FLAG, EQ, 1);
        use(a[1]);
    }
}
void racy_atomics_of_two_types(void)
{
    if (me == 0)
        shmem_int_atomic_add((int *)a, 1, 1);
    if (me == 2)
        shmem_long_atomic_add(a, 1, 1);
}
void racy_atomics_of_two_signs(void)
{
    if (me == 0)
        shmem_ulong_atomic_inc((unsigned long *)a, 1);
    if (me == 2)
        (void)shmem_long_atomic_swap(a, 1, 1);
}
void racy_signal_and_atomic(void)
{
    if (me == 0)
        shmem_long_put_signal(a, other, 2, signals, 1, SHMEM_SIGNAL_ADD, 1);
    if (me == 2)
        shmem_uint64_atomic_inc(signals, 1);
}
void racy_signals_of_two_operators(void)
{
    if (me == 0)
        shmem_long_put_signal(a, other, 2, signals, 1, SHMEM_SIGNAL_ADD, 1);
    if (me == 2)
        shmem_long_put_signal(a + 8, other, 2, signals, 1, SHMEM_SIGNAL_SET, 1);
}
void racy_own_and_library_atomic(void)
{
    if (me == 1)
        __atomic_fetch_add(a, 1, __ATOMIC_SEQ_CST);
    if (me == 2)
        shmem_long_atomic_add(a, 1, 1);
}
void racy_private_source(void)
{
    volatile long here[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_long_put_nbi(a, (const long *)here, 4, 1);
        here[2] = 5;
        shmem_quiet();
    }
}
void racy_private_destination(void)
{
    long *here = calloc(4, sizeof *here);
    if (me == 0) {
        shmem_long_get_nbi(here, a, 4, 1);
        use(here[3]);
        shmem_quiet();
    }
    free(here);
}
void racy_private_fetched(void)
{
    volatile long here = 0;
    if (me == 0) {
        shmem_long_atomic_fetch_nbi((long *)&here, a, 1);
        use(here);
        shmem_quiet();
    }
}
void racy_two_gets_into_one(void)
{
    long here[4];
    if (me == 0) {
        shmem_long_get_nbi(here, a, 4, 1);
        shmem_long_get_nbi(here + 3, a + 8, 1, 2);
        shmem_quiet();
    }
}
void racy_private_source_of_a_request(void)
{
    volatile long here[2] = {1, 2};
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    if (me == 0) {
        shmemx_long_put_nbe(a, (const long *)here, 2, 1, &request);
        here[0] = 5;
        shmemx_request_wait_free(&request);
    }
}
