/* Split-phase collectives: many at once, completed in any order, between blocking ones, together with puts in one
 * request, with computation in between.
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { OPERATIONS = 120, ELEMENTS = 37, MOST_PES = 16 };

static int from[OPERATIONS][ELEMENTS * MOST_PES], to[OPERATIONS][ELEMENTS * MOST_PES];
static shmemx_request_t requests[OPERATIONS];

static int element(int operation, int pe, int i)
{
    return operation * 100000 + pe * 1000 + i + 1;
}

/* Operation k of a fixed mixture; every fifth is a barrier, which moves nothing. */
static void start(int k, shmemx_request_t *request)
{
    int status = 0;
    for (int i = 0; i < ELEMENTS * npes; i++) {
        from[k][i] = element(k, me, i);
        to[k][i] = 0;
    }
    switch (k % 6) {
    case 0: status = shmemx_int_fcollect_nbe(SHMEM_TEAM_WORLD, to[k], from[k], ELEMENTS, request); break;
    case 1: status = shmemx_int_alltoall_nbe(SHMEM_TEAM_WORLD, to[k], from[k], ELEMENTS, request); break;
    case 2: status = shmemx_int_broadcast_nbe(SHMEM_TEAM_WORLD, to[k], from[k], ELEMENTS, k % npes, request); break;
    case 3: status = shmemx_int_sum_reduce_nbe(SHMEM_TEAM_WORLD, to[k], from[k], ELEMENTS, request); break;
    case 4:
        status = shmemx_int_max_reduce_nbe(SHMEM_TEAM_WORLD, from[k], from[k], ELEMENTS, request);
        break; /* in place */
    default: shmemx_barrier_all_nbe(request);
    }
    CHECK_EQ(status, 0);
}

static void check_one(int k, int i, int pe)
{
    int sum = 0;
    for (int other = 0; other < npes; other++)
        sum += element(k, other, i);
    switch (k % 6) {
    case 0: CHECK_EQ(to[k][pe * ELEMENTS + i], element(k, pe, i)); break;
    case 1: CHECK_EQ(to[k][pe * ELEMENTS + i], element(k, pe, me * ELEMENTS + i)); break;
    case 2: CHECK_EQ(to[k][i], element(k, k % npes, i)); break;
    case 3: CHECK_EQ(to[k][i], sum); break;
    case 4: CHECK_EQ(from[k][i], element(k, npes - 1, i)); break;
    default: break;
    }
}

static void check(int k)
{
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < ELEMENTS; i++)
            check_one(k, i, pe);
}

/* Waited for from the last to the first, each PE stopping at another place to do something that blocks. */
static void backwards(void)
{
    for (int k = 0; k < OPERATIONS; k++) {
        requests[k] = SHMEMX_REQUEST_NULL;
        start(k, &requests[k]);
        if (k % 10 == 3)
            shmem_barrier_all();
        if (k % 10 == 7)
            shmem_sync_all();
    }
    for (int k = OPERATIONS - 1; k >= 0; k--) {
        shmemx_request_wait(&requests[k]);
        check(k);
        shmemx_request_free(&requests[k]);
    }
    shmem_barrier_all();
}

/* As many as are ready, until all are. */
static void some_at_a_time(void)
{
    size_t found[OPERATIONS];
    int done[OPERATIONS] = {0};
    for (int k = 0; k < OPERATIONS; k++)
        start(k, &requests[k]);
    for (size_t left = OPERATIONS; left;) {
        size_t count = shmemx_request_wait_some(requests, OPERATIONS, found, done);
        CHECK(count > 0 && count <= left);
        for (size_t i = 0; i < count; i++) {
            CHECK(!done[found[i]]);
            done[found[i]] = 1;
            check((int)found[i]);
            shmemx_request_free(&requests[found[i]]);
        }
        left -= count;
    }
    CHECK_EQ(shmemx_request_wait_some(requests, OPERATIONS, found, done), 0);
    shmem_barrier_all();
}

/* All in one request with puts and atomics; computation between start and wait. */
static void one_request(void)
{
    static long counted;
    static double words[MOST_PES];
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    double value = me + 0.5, work = 0;
    for (int k = 0; k < OPERATIONS; k++) {
        start(k, &one);
        shmemx_long_atomic_inc_nbe(&counted, next_pe, &one);
        shmemx_double_put_nbe(&words[me], &value, 1, k % npes, &one);
        for (int i = 1; i < 2000; i++)
            work += 1.0 / i / i;
    }
    shmemx_request_wait(&one);
    for (int k = 0; k < OPERATIONS; k++)
        check(k);
    CHECK(work > OPERATIONS * 1.6 && work < OPERATIONS * 1.65);
    shmem_barrier_all();
    CHECK_EQ(counted, OPERATIONS);
    for (int pe = 0; pe < npes; pe++)
        CHECK(words[pe] == pe + 0.5);
    shmemx_request_free(&one);
    counted = 0;
    shmem_barrier_all();
}

/* Puts before a split-phase barrier are there when it is over. */
static void barrier_publishes(void)
{
    static long mail[MOST_PES];
    for (long round = 1; round <= 500; round++) {
        shmemx_request_t one = SHMEMX_REQUEST_NULL;
        for (int pe = 0; pe < npes; pe++)
            shmem_long_put_nbi(&mail[me], &round, 1, pe);
        shmemx_barrier_all_nbe(&one);
        while (!shmemx_request_test(&one))
            continue;
        for (int pe = 0; pe < npes; pe++)
            CHECK(mail[pe] >= round);
        CHECK_EQ(shmemx_team_sync_nbe(SHMEM_TEAM_SHARED, &one), 0);
        shmemx_request_wait(&one);
        shmemx_request_free(&one);
    }
    shmem_barrier_all();
}

/* Nothing to move, no addresses; an invalid team. */
static void nothing(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    CHECK_EQ(shmemx_int_fcollect_nbe(SHMEM_TEAM_WORLD, NULL, NULL, 0, &one), 0);
    CHECK_EQ(shmemx_alltoallmem_nbe(SHMEM_TEAM_WORLD, NULL, NULL, 0, &one), 0);
    CHECK_EQ(shmemx_broadcastmem_nbe(SHMEM_TEAM_WORLD, NULL, NULL, 0, npes - 1, &one), 0);
    CHECK_EQ(shmemx_double_sum_reduce_nbe(SHMEM_TEAM_WORLD, NULL, NULL, 0, &one), 0);
    shmemx_request_wait(&one);
    shmemx_request_free(&one);
    CHECK(shmemx_team_sync_nbe(SHMEM_TEAM_INVALID, &one) != 0);
    CHECK(shmemx_int_sum_reduce_nbe(SHMEM_TEAM_INVALID, to[0], from[0], 1, &one) != 0);
    CHECK(shmemx_broadcastmem_nbe(SHMEM_TEAM_INVALID, to[0], from[0], 1, 0, &one) != 0);
    CHECK(one == SHMEMX_REQUEST_NULL);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    backwards();
    some_at_a_time();
    one_request();
    barrier_publishes();
    nothing();
    return check_pass();
}
