/* Lateral's own functions that come in one form only, by their C names.
 * pes: 1 2
 * flags: -fno-strict-aliasing
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"

static void one_request(void)
{
    shmemx_request_t mine = SHMEMX_REQUEST_NULL, other = SHMEMX_REQUEST_NULL;
    ready();
    expect("shmemx_request_create", shmemx_request_create(SHMEMX_REQUEST_PRIVATE, &mine) == 0, "failed");
    expect("shmemx_request_pending", shmemx_request_pending(mine) == 0, "an empty request has something pending");
    expect("shmemx_request_test", shmemx_request_test(&mine) == 1, "an empty request is not complete");
    shmemx_int_put_nbe((int *)dest, (int *)source, 1, peer, &mine);
    shmemx_request_wait_local(&mine);
    expect("shmemx_request_test_local", shmemx_request_test_local(&mine) == 1, "not done after wait_local");
    shmemx_request_fence(&mine);
    shmemx_int_put_nbe((int *)dest + 1, (int *)source + 1, 1, peer, &other);
    shmemx_request_merge(&mine, 1, &other);
    expect("shmemx_request_merge", other == SHMEMX_REQUEST_NULL, "left the input's handle");
    shmemx_request_wait(&mine);
    expect("shmemx_request_pending", shmemx_request_pending(mine) == 0, "something is pending after wait");
    shmemx_barrier_all_nbe(&mine);
    shmemx_request_wait(&mine);
    expect("shmemx_barrier_all_nbe", holds(0, 8, origin, 0), "done before the others' puts arrived");
    expect("shmemx_team_sync_nbe", shmemx_team_sync_nbe(SHMEM_TEAM_WORLD, &mine) == 0, "failed");
    shmemx_request_wait(&mine);
    shmemx_request_free(&mine);
    expect("shmemx_request_free", mine == SHMEMX_REQUEST_NULL, "left the handle");
    settle();
}

static void many_requests(void)
{
    shmemx_request_t reqs[3] = {SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL};
    static const int mask[3] = {1, 0, 0};
    size_t indices[3] = {9, 9, 9};
    ready();
    for (int i = 0; i < 3; i++)
        shmemx_int_put_nbe((int *)dest + i, (int *)source + i, 1, peer, &reqs[i]);
    shmemx_request_wait_all(reqs, 3, NULL);
    expect("shmemx_request_test_all", shmemx_request_test_all(reqs, 3, NULL) == 1, "not complete after wait_all");
    size_t any = shmemx_request_wait_any(reqs, 3, mask);
    expect("shmemx_request_wait_any", any == 1 || any == 2, "wrong index");
    any = shmemx_request_test_any(reqs, 3, mask);
    expect("shmemx_request_test_any", any == 1 || any == 2, "wrong index");
    size_t some = shmemx_request_wait_some(reqs, 3, indices, mask);
    expect("shmemx_request_wait_some", some >= 1 && some <= 2 && indices[0] >= 1 && indices[0] <= 2, "wrong indices");
    some = shmemx_request_test_some(reqs, 3, indices, mask);
    expect("shmemx_request_test_some", some >= 1 && some <= 2 && indices[0] >= 1 && indices[0] <= 2, "wrong indices");
    for (int i = 0; i < 3; i++)
        if (reqs[i] != SHMEMX_REQUEST_NULL)
            shmemx_request_free(&reqs[i]);
    settle();
    expect("shmemx_request_wait_all", holds(0, 12, origin, 0), "wrong bytes");
    shmem_barrier_all();
}

static void counters(void)
{
    shmemx_ct_t mine;
    shmemx_ct_create(&mine);
    expect("shmemx_ct_test", shmemx_ct_get(mine) == 0 && shmemx_ct_test(mine, 0) == 1 && shmemx_ct_test(mine, 1) == 0,
           "a new counter is not 0");
    shmem_barrier_all();
    shmemx_ct_add(mine, 3, peer);
    shmemx_ct_wait(mine, 3);
    shmem_barrier_all();
    shmemx_ctx_ct_add(ctx, mine, 4, peer);
    expect("shmemx_ct_wait_timeout", shmemx_ct_wait_timeout(mine, 7, 10.0) == 1, "ran out of time");
    expect("shmemx_ct_wait_timeout", shmemx_ct_wait_timeout(mine, 8, 0.001) == 0, "counted too much");
    shmemx_ct_consume(mine, 2);
    const long least[1] = {5};
    expect("shmemx_ct_wait_any", shmemx_ct_wait_any(&mine, least, 1) == 0, "wrong index");
    expect("shmemx_ct_fetch_reset", shmemx_ct_fetch_reset(mine) == 5 && shmemx_ct_get(mine) == 0, "wrong value");
    shmemx_ct_set(mine, 11);
    expect("shmemx_ct_set", shmemx_ct_get(mine) == 11, "wrong value");
    expect("shmemx_ct_errors", shmemx_ct_errors(mine) == 0, "errors without a mistake");
    shmem_barrier_all();
    shmemx_ct_free(&mine);
}

int main(void)
{
    begin();
    one_request();
    many_requests();
    counters();
    return end(28);
}
