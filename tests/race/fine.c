/* Programs of three PEs without races. */
#include "programs.h"

void fine_barrier(void)
{
    if (me == 0)
        shmem_long_put(a, other, 4, 1);
    shmem_barrier_all();
    if (me == 1)
        use(a[0]++);
    shmem_barrier_all();
    use(shmem_long_g(a, 1));
}
void fine_quiet_sync(void)
{
    if (me == 0)
        shmem_long_p(a, 5, 1);
    shmem_quiet();
    shmem_sync_all();
    if (me == 1)
        use(a[0]);
}
void fine_fence_flag(void)
{
    if (me == 0) {
        shmem_long_put(a, other, 8, 1);
        shmem_fence();
        shmem_long_p(FLAG, 1, 1);
    } else if (me == 1) {
        shmem_long_wait_until(FLAG, EQ, 1);
        use(a[7] + *FLAG);
        *FLAG = 0;
    }
}
void fine_put_signal(void)
{
    for (uint64_t i = 1; i < 4 && me < 2; i++)
        if (me == 0) {
            shmem_long_put_signal(a, other, 4, signals, i, SHMEM_SIGNAL_SET, 1);
            shmem_signal_wait_until(signals, GE, i);
        } else {
            shmem_signal_wait_until(signals, GE, i);
            use(a[3]);
            shmem_signal_set(signals, i, 0);
        }
}
void fine_count_of_all(void)
{
    shmem_long_p(a + me, 1, 0);
    shmem_fence();
    shmem_long_atomic_inc(FLAG, 0);
    if (me == 0) {
        shmem_long_wait_until(FLAG, EQ, 3);
        use(a[0] + a[1] + a[2]);
    }
}
void fine_lock(void)
{
    for (int i = 0; i < 3; i++) {
        shmem_set_lock(FLAG);
        shmem_long_p(a, shmem_long_g(a, 2) + 1, 2);
        shmem_clear_lock(FLAG);
    }
}
void fine_lock_tried(void)
{
    while (shmem_test_lock(FLAG))
        continue;
    shmem_long_p(a, shmem_long_g(a, 2) + 1, 2);
    shmem_clear_lock(FLAG);
}
void fine_ping_pong(void)
{
    int peer = 1 - me;
    for (long i = 1; i < 6 && me < 2; i++) {
        if (me == 1)
            shmem_long_wait_until(FLAG, GE, i);
        a[8] = i;
        use(a[0]);
        shmem_long_put(a, a + 8, 1, peer);
        shmem_fence();
        shmem_long_p(FLAG, i, peer);
        if (me == 0)
            shmem_long_wait_until(FLAG, GE, i);
    }
}
void fine_source_after_quiet(void)
{
    if (me == 0) {
        shmem_long_put_nbi(a + 8, a, 4, 1);
        shmem_quiet();
        a[3] = 1;
        shmem_long_put(a + 8, a, 4, 1);
        a[3] = 2;
    }
}
void fine_get_after_quiet(void)
{
    if (me == 0) {
        shmem_long_get_nbi(a, a + 8, 4, 1);
        shmem_quiet();
        use(a[1]);
    }
}
void fine_neighbours(void)
{
    if (me < 2)
        shmem_char_p((char *)a + me, 1, 2);
    if (me == 2)
        ((char *)a)[2] = 1;
}
void fine_fence_between_puts(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_fence();
        shmem_long_p(a, 2, 1);
        shmem_quiet();
        use(shmem_long_g(a, 1));
    }
}
void fine_broadcast(void)
{
    if (me == 0)
        a[0] = 1;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, a + 8, a, 2, 0);
    use(a[8]);
    use(shmem_long_g(a, 0));
    shmem_barrier_all();
    a[8] = 0;
}
void fine_reduce_orders(void)
{
    a[0] = me;
    a[20] = me;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, a + 8, a, 1);
    use(shmem_long_g(a + 20, (me + 1) % 3) + a[8]);
}
void fine_collect(void)
{
    a[0] = me;
    shmem_long_fcollect(SHMEM_TEAM_WORLD, a + 8, a, 1);
    use(a[9] + shmem_long_g(a, (me + 1) % 3));
}
void fine_counter(void)
{
    shmemx_ct_t ct;
    shmemx_ct_create(&ct);
    shmemx_long_put_ct(ct, a + me, other, 1, 1);
    if (me == 1) {
        shmemx_ct_wait(ct, 3);
        use(a[0] + a[1] + a[2]);
    }
    shmemx_ct_free(&ct);
}
void fine_request(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    if (me == 0) {
        shmemx_long_put_nbe(a, a + 8, 4, 1, &request);
        shmemx_request_wait_free(&request);
        a[8] = 1;
    }
    shmem_sync_all();
    if (me == 1)
        use(a[3]);
}
void fine_context(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    if (me == 0) {
        shmem_ctx_long_put(ctx, a, other, 2, 1);
        shmem_ctx_quiet(ctx);
    }
    shmem_sync_all();
    if (me == 1)
        use(a[0]);
    shmem_ctx_destroy(ctx);
}
void fine_context_fence(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    if (me == 0) {
        shmem_ctx_long_put(ctx, a, other, 2, 1);
        shmem_ctx_fence(ctx);
        shmem_ctx_signal_set(ctx, signals, 1, 1);
    } else if (me == 1) {
        shmem_signal_wait_until(signals, EQ, 1);
        use(a[0]);
    }
    shmem_ctx_destroy(ctx);
}
void fine_through_another(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 2);
        shmem_quiet();
        shmem_long_p(FLAG, 1, 1);
    } else if (me == 1) {
        shmem_long_wait_until(FLAG, EQ, 1);
        shmem_long_p(FLAG, 1, 2);
    } else {
        shmem_long_wait_until(FLAG, EQ, 1);
        use(a[0]);
    }
}
void fine_fence_passed_on(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_fence();
        shmem_long_p(FLAG, 1, 1);
    } else if (me == 1) {
        shmem_long_wait_until(FLAG, EQ, 1);
        shmem_long_atomic_set(FLAG, 1, 2);
    } else {
        shmem_long_wait_until(FLAG, EQ, 1);
        use(shmem_long_g(a, 1));
    }
}
void fine_atomics(void)
{
    for (int i = 0; i < 3; i++) {
        shmem_long_atomic_add(a, 1, i);
        use(shmem_long_atomic_swap(a + 1, 3, i) + shmem_long_atomic_fetch(a, i));
        use(shmem_long_atomic_compare_swap(a + 2, 0, 1, i));
    }
}
void fine_test(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_fence();
        shmem_long_p(FLAG, 1, 1);
    }
    while (me == 1 && !shmem_long_test(FLAG, EQ, 1))
        continue;
    if (me == 1)
        use(a[0]);
}
void fine_wait_any(void)
{
    shmem_long_p(a + me, 1, 0);
    shmem_fence();
    shmem_long_p(FLAG + me, 1, 0);
    int done[3] = {0};
    for (int i = 0; i < 3 && me == 0; i++) {
        size_t at = shmem_long_wait_until_any(FLAG, 3, done, EQ, 1);
        done[at] = 1;
        use(a[at]);
    }
}
void fine_wait_all(void)
{
    shmem_long_p(a + me, 1, 0);
    shmem_fence();
    shmem_long_p(FLAG + me, 1, 0);
    if (me == 0) {
        shmem_long_wait_until_all(FLAG, 3, NULL, EQ, 1);
        use(a[0] + a[1] + a[2]);
    }
}
void fine_tickets(void)
{
    for (int i = 0; i < 4; i++) {
        long ticket = shmem_long_atomic_fetch_add(FLAG, 1, 0);
        shmem_long_p(a + ticket, me, 1);
    }
    shmem_barrier_all();
    if (me == 1)
        use(a[0] + a[11]);
}
void fine_pointer(void)
{
    long *there = shmem_ptr(a, (me + 1) % 3);
    if (there)
        *there = 1;
    shmem_barrier_all();
    use(a[0]);
}
void fine_memory_again(void)
{
    for (int i = 0; i < 3; i++) {
        long *block = shmem_malloc(64);
        shmem_long_p(block, 1, (me + i) % 3);
        shmem_barrier_all();
        use(block[0]);
        shmem_free(block);
    }
}
void fine_team(void)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &team);
    if (me == 0) {
        shmem_long_p(a, 1, 2);
        shmem_quiet();
    }
    if (me != 1)
        shmem_team_sync(team);
    if (me == 2)
        use(a[0]);
    if (me != 1)
        shmem_team_destroy(team);
}
void fine_memcpy(void)
{
    memcpy(a, other, 40);
    shmem_barrier_all();
    shmem_long_get(other, a, 5, (me + 1) % 3);
    shmem_barrier_all();
    memset(a, 0, 40);
}
void fine_split_barrier(void)
{
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    a[0] = me;
    shmemx_barrier_all_nbe(&request);
    shmemx_request_wait_free(&request);
    use(shmem_long_g(a, (me + 1) % 3));
}
void fine_own_atomics(void)
{
    if (me == 0) {
        shmem_long_p(a, 1, 1);
        shmem_fence();
        shmem_long_atomic_set(FLAG, 1, 1);
    } else if (me == 1) {
        while (!__atomic_load_n(FLAG, __ATOMIC_ACQUIRE))
            continue;
        use(a[0]);
    }
}
void fine_spin_lock(void)
{
    for (int i = 0; i < 3; i++) {
        while (shmem_long_atomic_compare_swap(FLAG, 0, 1, 0))
            continue;
        shmem_long_p(a, shmem_long_g(a, 1) + 1, 1);
        shmem_quiet();
        shmem_long_atomic_set(FLAG, 0, 0);
    }
}
void fine_active_set(void)
{
    static long words[SHMEM_SYNC_SIZE];
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        words[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (me == 0)
        shmem_long_p(a, 1, 1);
    shmem_barrier(0, 0, 3, words);
    if (me == 1)
        use(a[0]);
}
void fine_signals_of_one_operator(void)
{
    if (me != 1)
        shmem_long_put_signal(a + 2 * me, other, 2, signals, 1, SHMEM_SIGNAL_ADD, 1);
    else
        shmem_signal_wait_until(signals, EQ, 2);
}
void fine_private_after_quiet(void)
{
    volatile long here[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_long_put_nbi(a, (const long *)here, 4, 1);
        use(here[1]); /* both only read it */
        shmem_quiet();
        here[2] = 5;
        shmem_long_get_nbi((long *)here, a, 4, 2);
        shmem_quiet();
        use(here[0]);
    }
}
void fine_private_neighbours(void)
{
    volatile long here[4] = {0};
    if (me == 0) {
        shmem_long_get_nbi((long *)here, a, 2, 1);
        here[2] = 1;
        shmem_long_get_nbi((long *)here + 3, a + 8, 1, 2);
        shmem_quiet();
        use(here[3]);
    }
}
void fine_private_by_requests(void)
{
    volatile long here = 1;
    shmemx_request_t request = SHMEMX_REQUEST_NULL;
    if (me == 0) {
        shmemx_long_put_nbe(a, (const long *)&here, 1, 1, &request);
        shmemx_request_wait_local(&request);
        here = 2;
        shmemx_request_wait_free(&request);
    }
}
void fine_types_one_after_the_other(void)
{
    if (me == 0)
        shmem_int_atomic_add((int *)a, 1, 1);
    shmem_barrier_all();
    if (me == 2)
        shmem_long_atomic_add(a, 1, 1);
}
