/* The functions of shmemx.h that come in one form only, called by hand.
 * pes: 1 2
 * flags: -fno-strict-aliasing
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"

static void requests(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL, two,
                     set[3] = {SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL};
    size_t found[3];
    ready();
    expect("shmemx_request_create", shmemx_request_create(SHMEMX_REQUEST_SHARED, &two) == 0, "failed");
    shmemx_barrier_all_nbe(&one);
    expect("shmemx_team_sync_nbe", shmemx_team_sync_nbe(SHMEM_TEAM_WORLD, &two) == 0, "failed");
    expect("shmemx_request_pending", shmemx_request_pending(one) <= 1, "more than were started");
    set[1] = two;
    shmemx_request_merge(&one, 3, set);
    expect("shmemx_request_merge", set[1] == SHMEMX_REQUEST_NULL, "left the input a handle");
    shmemx_request_fence(&one);
    while (!shmemx_request_test(&one))
        continue;
    shmemx_request_wait(&one);
    shmemx_request_wait_local(&one);
    expect("shmemx_request_test_local", shmemx_request_test_local(&one) == 1, "says no to a complete request");
    set[2] = one;
    shmemx_request_wait_all(set, 3, NULL);
    expect("shmemx_request_test_all", shmemx_request_test_all(set, 3, NULL) == 1, "says no to complete requests");
    expect("shmemx_request_wait_any", shmemx_request_wait_any(set, 3, NULL) < 3, "found none");
    expect("shmemx_request_test_any", shmemx_request_test_any(set, 3, NULL) < 3, "found none");
    expect("shmemx_request_wait_some", shmemx_request_wait_some(set, 3, found, NULL) == 3, "missed some");
    expect("shmemx_request_test_some", shmemx_request_test_some(set, 3, found, NULL) == 3, "missed some");
    shmemx_request_free(&one);
    expect("shmemx_request_free", one == SHMEMX_REQUEST_NULL, "left a handle");
    shmemx_barrier_all_nbe(&one);
    shmemx_barrier_all_nbe(&set[1]);
    shmemx_request_wait_free(&one);
    expect("shmemx_request_wait_free", one == SHMEMX_REQUEST_NULL, "left a handle");
    shmemx_request_wait_all_free(&set[1], 1, NULL);
    expect("shmemx_request_wait_all_free", set[1] == SHMEMX_REQUEST_NULL, "left a handle");
    settle();
}

static void counters(void)
{
    shmemx_ct_t ct;
    const long values[1] = {2};
    shmemx_ct_create(&ct);
    shmemx_ct_add(ct, 2, peer);
    expect("shmemx_ct_wait", shmemx_ct_wait(ct, 2) == 2, "wrong count");
    expect("shmemx_ct_get", shmemx_ct_get(ct) == 2, "wrong count");
    expect("shmemx_ct_test", shmemx_ct_test(ct, 2) == 1 && shmemx_ct_test(ct, 3) == 0, "wrong answer");
    expect("shmemx_ct_wait_any", shmemx_ct_wait_any(&ct, values, 1) == 0, "wrong index");
    shmemx_ct_consume(ct, 1);
    shmem_barrier_all();
    shmemx_ctx_ct_add(ctx, ct, -3, peer);
    shmem_barrier_all();
    expect("shmemx_ct_fetch_reset", shmemx_ct_fetch_reset(ct) == -2, "wrong count");
    shmemx_ct_set(ct, 7);
    expect("shmemx_ct_wait_timeout", shmemx_ct_wait_timeout(ct, 7, 1.0) == 1, "timed out");
    expect("shmemx_ct_wait_timeout", shmemx_ct_wait_timeout(ct, 8, 0.001) == 0, "did not time out");
    expect("shmemx_ct_errors", shmemx_ct_errors(ct) == 0, "counts errors where there are none");
    shmemx_ct_free(&ct);
}

static void team_counters(void)
{
    shmemx_ct_t ct;
    shmemx_request_t one = SHMEMX_REQUEST_NULL, two = SHMEMX_REQUEST_NULL;
    expect("shmemx_ct_create_team", shmemx_ct_create_team(SHMEM_TEAM_WORLD, &ct) == 0, "failed");
    shmemx_ct_wait_nbe(ct, 5, &one);
    shmemx_ct_add_nbe(ct, 2, peer, &two);
    shmemx_ctx_ct_add_nbe(ctx, ct, 3, peer, &two);
    shmemx_request_wait_free(&two);
    shmemx_request_wait_free(&one);
    expect("shmemx_ct_wait_nbe", shmemx_ct_get(ct) == 5, "wrong count");
    expect("shmemx_ct_free_team", shmemx_ct_free_team(SHMEM_TEAM_WORLD, &ct) == 0 && !ct, "failed");
}

int main(void)
{
    begin();
    requests();
    counters();
    team_counters();
    return end(30);
}
