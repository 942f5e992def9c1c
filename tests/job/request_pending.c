/* Requests that are pending: PE 0 starts its collectives only when the other PEs have tested theirs, so those cannot
 * be complete before.
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { BARRIERS = 6, LONG = 1 << 20, ROUNDS = 5 };

static long looked, value_there[2];

/* PE 0's part: waits until all others have looked, then joins their barriers. */
static void join(int barriers)
{
    shmemx_request_t mine = SHMEMX_REQUEST_NULL;
    shmem_long_wait_until(&looked, SHMEM_CMP_EQ, npes - 1);
    for (int i = 0; i < barriers; i++)
        shmemx_barrier_all_nbe(&mine);
    shmemx_request_wait(&mine);
    CHECK_EQ(shmemx_request_test(&mine), 1);
    shmemx_request_free(&mine);
    looked = 0;
}

static void have_looked(void)
{
    shmem_long_atomic_inc(&looked, 0);
}

static void look_at_sets(shmemx_request_t *set)
{
    size_t found[3];
    const int not_the_done[3] = {0, 1, 0}, first_two[3] = {0, 0, 1};
    shmemx_request_t pair[3] = {set[0], SHMEMX_REQUEST_NULL, set[1]};
    const long value = 5;
    shmemx_long_put_nbe(&value_there[0], &value, 1, me, &pair[1]);
    CHECK_EQ(shmemx_request_test_all(pair, 3, NULL), 0);
    CHECK_EQ(shmemx_request_test_any(pair, 3, not_the_done), SIZE_MAX);
    CHECK_EQ(shmemx_request_test_some(pair, 3, found, not_the_done), 0);
    CHECK_EQ(shmemx_request_wait_any(pair, 3, NULL), 1);
    CHECK_EQ(shmemx_request_test_any(pair, 3, first_two), 1);
    CHECK(shmemx_request_wait_some(pair, 3, found, NULL) == 1 && found[0] == 1);
    CHECK(shmemx_request_test_some(pair, 3, found, NULL) == 1 && found[0] == 1);
    shmemx_request_free(&pair[1]);
}

/* a, b into null; that and c into a shared one; more operations into what is pending; d let go. */
static void merge_pending(void)
{
    shmemx_request_t set[4] = {SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL, SHMEMX_REQUEST_NULL};
    shmemx_request_t inner = SHMEMX_REQUEST_NULL, outer, last = SHMEMX_REQUEST_NULL;
    const long value = 9;
    CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_SHARED, &set[2]), 0);
    CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_SHARED, &outer), 0);
    for (int i = 0; i < 4; i++) {
        shmemx_barrier_all_nbe(&set[i]);
        CHECK(shmemx_request_test(&set[i]) == 0 && shmemx_request_test_local(&set[i]) == 0);
        CHECK_EQ(shmemx_request_pending(set[i]), 1);
    }
    look_at_sets(set);
    shmemx_request_free(&set[3]);
    CHECK(set[3] == SHMEMX_REQUEST_NULL);
    shmemx_request_merge(&inner, 2, set);
    CHECK(set[0] == SHMEMX_REQUEST_NULL && set[1] == SHMEMX_REQUEST_NULL && shmemx_request_test(&inner) == 0);
    shmemx_long_put_nbe(&value_there[1], &value, 1, me, &inner);
    shmemx_barrier_all_nbe(&inner);
    CHECK(shmemx_request_pending(inner) >= 2 && shmemx_request_pending(inner) <= 3);
    set[1] = inner;
    shmemx_request_merge(&outer, 4, set);
    CHECK(set[1] == SHMEMX_REQUEST_NULL && set[2] == SHMEMX_REQUEST_NULL);
    CHECK(shmemx_request_test(&outer) == 0 && shmemx_request_pending(outer) >= 1);
    shmemx_barrier_all_nbe(&last);
    shmemx_request_merge(&last, 1, &outer); /* into an object that is pending itself */
    CHECK(outer == SHMEMX_REQUEST_NULL && shmemx_request_test(&last) == 0);
    have_looked();
    shmemx_request_wait(&last);
    CHECK(shmemx_request_pending(last) == 0 && value_there[1] == value);
    CHECK_EQ(shmemx_request_test_local(&last), 1);
    shmemx_long_put_nbe(&value_there[1], &value, 1, me, &last);
    CHECK_EQ(shmemx_request_test(&last), 1);
    shmemx_request_free(&last);
}

/* All complete, in whatever order they are waited for, through chains of merged ones. */
static void chains(void)
{
    enum { LINKS = 50 };
    shmemx_request_t chain = SHMEMX_REQUEST_NULL;
    for (int i = 0; i < LINKS; i++) {
        shmemx_request_t next = SHMEMX_REQUEST_NULL;
        shmemx_barrier_all_nbe(&next);
        if (i % 2)
            shmemx_request_merge(&chain, 1, &next);
        else {
            shmemx_request_merge(&next, 1, &chain);
            chain = next;
        }
    }
    if (npes > 1)
        CHECK_EQ(shmemx_request_test(&chain), 0);
    have_looked();
    shmemx_request_wait(&chain);
    CHECK_EQ(shmemx_request_pending(chain), 0);
    shmemx_request_free(&chain);
}

/* A split-phase barrier completes what was issued before it, also what brings data here. */
static void complete_gets(void)
{
    static long tickets;
    long *source = check_alloc(LONG * sizeof *source), *dest = check_alloc(LONG * sizeof *dest), ticket = -1;
    int pe = (me + (npes + 1) / 2) % npes;
    for (long round = 1; round <= ROUNDS; round++) {
        for (long i = 0; i < LONG; i++)
            source[i] = round * npes + me;
        shmem_barrier_all();
        shmemx_request_t barrier = SHMEMX_REQUEST_NULL;
        shmem_long_get_nbi(dest, source, LONG, pe);
        shmem_long_atomic_fetch_inc_nbi(&ticket, &tickets, pe);
        shmemx_barrier_all_nbe(&barrier);
        shmemx_request_wait(&barrier);
        for (long i = 0; i < LONG; i++)
            CHECK_EQ(dest[i], round * npes + pe);
        CHECK_EQ(ticket, round - 1);
        shmemx_request_free(&barrier);
    }
    shmem_barrier_all();
    shmem_free(source);
    shmem_free(dest);
}

int main(void)
{
    check_start();
    complete_gets();
    if (npes > 1) {
        if (me == 0)
            join(BARRIERS);
        else
            merge_pending();
        shmem_barrier_all();
        if (me == 0)
            join(50);
        else
            chains();
        shmem_barrier_all();
    } else
        chains();
    return check_pass();
}
