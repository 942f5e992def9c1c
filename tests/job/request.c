/* Requests of one thread: meaning of handles, completion, order, sets (man shmemx_request).
 */
#include "../conform/check.h"

#include <shmemx.h>

enum { WORDS = 512 };

static long area[WORDS], far_area[WORDS];
static shmemx_request_t fresh = SHMEMX_REQUEST_NULL; /* the constant initialises static variables */

static int on_node; /* all PEs share memory: operations are complete at the first test */

static void fill(long *words, long first)
{
    for (int i = 0; i < WORDS; i++)
        words[i] = first + i;
}

/* Null creates, valid merges; a request of many operations to all PEs is complete at the first test. */
static void handles(void)
{
    long mine[WORDS], back[WORDS];
    fill(mine, 1000 * (me + 1));
    for (int pe = 0; pe < npes; pe++)
        for (int i = me; i < WORDS; i += npes)
            shmemx_long_put_nbe(&area[i], &mine[i], 1, pe, &fresh);
    CHECK(fresh != SHMEMX_REQUEST_NULL);
    if (on_node)
        CHECK_EQ(shmemx_request_test(&fresh), 1);
    shmemx_request_wait(&fresh);
    CHECK_EQ(shmemx_request_test(&fresh), 1);
    CHECK_EQ(shmemx_request_pending(fresh), 0);
    shmemx_request_t gets = SHMEMX_REQUEST_NULL;
    shmemx_long_get_nbe(back, area, WORDS, next_pe, &gets);
    shmemx_request_wait(&gets);
    for (int i = me; i < WORDS; i += npes)
        CHECK_EQ(back[i], mine[i]);
    shmemx_request_free(&fresh);
    CHECK(fresh == SHMEMX_REQUEST_NULL);
    shmemx_request_free(&fresh);
    shmemx_request_free(&gets);
    shmem_barrier_all();
}

static void empty_ones_are_complete(void)
{
    shmemx_request_t some = SHMEMX_REQUEST_NULL;
    CHECK_EQ(shmemx_request_test(&some), 1);
    shmemx_request_wait(&some);
    shmemx_request_wait_local(&some);
    CHECK_EQ(shmemx_request_pending(some), 0);
    CHECK(shmemx_request_create(0, &some) != 0 && some == SHMEMX_REQUEST_NULL);
    CHECK(shmemx_request_create(77, &some) != 0 && some == SHMEMX_REQUEST_NULL);
    const long options[2] = {SHMEMX_REQUEST_PRIVATE, SHMEMX_REQUEST_SHARED};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(shmemx_request_create(options[i], &some), 0);
        CHECK(some != SHMEMX_REQUEST_NULL);
        CHECK_EQ(shmemx_request_test(&some), 1);
        CHECK_EQ(shmemx_request_test_local(&some), 1);
        CHECK_EQ(shmemx_request_pending(some), 0);
        shmemx_request_free(&some);
    }
}

/* wait, test and quiet leave the handle usable; local completion frees the source. */
static void used_again(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    for (long round = 1; round <= 100; round++) {
        long source = round * 10 + me;
        shmemx_long_put_nbe(&area[me], &source, 1, next_pe, &one);
        if (round % 3 == 0)
            shmem_quiet();
        shmemx_request_wait_local(&one);
        source = -1;
        if (round % 2 || !on_node)
            shmemx_request_wait(&one);
        CHECK_EQ(shmemx_request_test(&one), 1);
        CHECK(one != SHMEMX_REQUEST_NULL);
        CHECK_EQ(shmem_long_g(&area[me], next_pe), round * 10 + me);
    }
    shmemx_request_free(&one);
    shmem_barrier_all();
}

/* A quiet completes a request's operations: what another PE reads after it is there. */
static void quiet_completes(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    const long value = 4711 + me;
    area[WORDS - 1] = 0;
    shmem_barrier_all();
    shmemx_long_put_nbe(&area[WORDS - 1], &value, 1, next_pe, &one);
    shmem_quiet();
    shmem_sync_all();
    CHECK_EQ(area[WORDS - 1], 4711 + prev_pe);
    CHECK_EQ(shmemx_request_test(&one), 1);
    shmemx_request_free(&one);
    shmem_barrier_all();
}

/* What is issued behind request_fence arrives behind. */
static void fence_orders(void)
{
    static long data[64], flag, done;
    if (npes == 1)
        return;
    for (long round = 1; me < 2 && round <= 3000; round++) {
        long block[64];
        for (int i = 0; i < 64; i++)
            block[i] = round;
        shmemx_request_t one = SHMEMX_REQUEST_NULL;
        if (me == 0) {
            shmemx_long_put_nbe(data, block, 64, 1, &one);
            shmemx_request_fence(&one);
            shmemx_long_put_nbe(&flag, &round, 1, 1, &one);
            shmem_long_wait_until(&done, SHMEM_CMP_GE, round);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
            for (int i = 0; i < 64; i++)
                CHECK_EQ(data[i], round);
            shmem_long_p(&done, round, 0);
        }
        shmemx_request_free(&one);
    }
    shmem_barrier_all();
}

/* Complete means visible before anything that follows: two PEs that put, wait and look cannot both miss the
 * other's put. */
static void complete_is_visible(void)
{
    enum { ROUNDS = 3000 };
    static long words[2][ROUNDS], started[2];
    static long seen[2][ROUNDS];
    shmemx_request_t one = SHMEMX_REQUEST_NULL, shared;
    const long yes = 1;
    CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_SHARED, &shared), 0);
    for (int i = 0; npes > 1 && me < 2 && i < ROUNDS; i++) {
        shmem_long_p(&started[me], i + 1, 1 - me);
        shmem_long_wait_until(&started[1 - me], SHMEM_CMP_GE, i + 1);
        shmemx_long_put_nbe(&words[me][i], &yes, 1, 0, i % 2 ? &one : &shared);
        shmemx_request_wait(i % 2 ? &one : &shared);
        long saw = shmem_long_g(&words[1 - me][i], 0);
        shmem_long_p(&seen[me][i], saw, 0);
    }
    shmem_barrier_all();
    for (int i = 0; me == 0 && npes > 1 && i < ROUNDS; i++)
        CHECK(seen[0][i] || seen[1][i]);
    shmemx_request_free(&one);
    shmemx_request_free(&shared);
}

/* Merging complete requests of every kind into every kind. */
static void merge_kinds(void)
{
    for (int into_kind = 0; into_kind < 3; into_kind++) {
        shmemx_request_t into = SHMEMX_REQUEST_NULL, set[5];
        if (into_kind)
            CHECK_EQ(shmemx_request_create(into_kind == 1 ? SHMEMX_REQUEST_PRIVATE : SHMEMX_REQUEST_SHARED, &into), 0);
        long value = 10 + into_kind, got = 0;
        for (int i = 0; i < 5; i++)
            set[i] = SHMEMX_REQUEST_NULL;
        CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_SHARED, &set[1]), 0);
        CHECK_EQ(shmemx_request_create(SHMEMX_REQUEST_PRIVATE, &set[2]), 0);
        shmem_long_p(&far_area[me % WORDS], value, next_pe);
        shmem_quiet(); /* the get may overtake the puts below */
        shmemx_long_put_nbe(&far_area[me % WORDS], &value, 1, next_pe, &set[1]);
        shmemx_long_put_nbe(&far_area[me % WORDS], &value, 1, next_pe, &set[3]);
        shmemx_long_get_nbe(&got, &far_area[me % WORDS], 1, next_pe, &set[4]);
        shmemx_request_merge(&into, 5, set);
        for (int i = 0; i < 5; i++)
            CHECK(set[i] == SHMEMX_REQUEST_NULL);
        CHECK(into != SHMEMX_REQUEST_NULL);
        shmemx_request_merge(&into, 0, NULL);
        shmemx_request_wait(&into);
        CHECK_EQ(got, value);
        CHECK_EQ(shmemx_request_test(&into), 1);
        shmemx_request_free(&into);
    }
    shmem_barrier_all();
}

/* any goes round, also when two sets are waited for in turns; masks exclude; empty sets answer at once. */
static void sets(void)
{
    enum { MANY = 6 };
    shmemx_request_t set[MANY], other[3];
    size_t found[MANY];
    int counts[MANY] = {0}, others[3] = {0}, mask[MANY] = {0, 1, 0, 1, 1, 0}, none[MANY] = {1, 1, 1, 1, 1, 1};
    for (int i = 0; i < MANY; i++) {
        set[i] = SHMEMX_REQUEST_NULL;
        shmemx_long_atomic_inc_nbe(&far_area[7], next_pe, &set[i]);
    }
    for (int i = 0; i < 3; i++)
        other[i] = set[0];
    for (int i = 0; i < 10 * MANY; i++) {
        counts[shmemx_request_wait_any(set, MANY, NULL)]++;
        others[shmemx_request_test_any(other, 3, NULL)]++;
    }
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(counts[i], 10);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(others[i], 20);
    for (int i = 0; i < 6; i++)
        CHECK(!mask[shmemx_request_wait_any(set, MANY, mask)]);
    CHECK_EQ(shmemx_request_wait_some(set, MANY, found, mask), 3);
    CHECK(found[0] == 0 && found[1] == 2 && found[2] == 5);
    CHECK_EQ(shmemx_request_test_some(set, MANY, found, NULL), MANY);
    CHECK_EQ(shmemx_request_test_all(set, MANY, mask), 1);
    shmemx_request_wait_all(set, MANY, NULL);
    shmemx_request_wait_all(set, MANY, none);
    shmemx_request_wait_all(NULL, 0, NULL);
    CHECK_EQ(shmemx_request_test_all(NULL, 0, NULL), 1);
    CHECK(shmemx_request_wait_any(NULL, 0, NULL) == SIZE_MAX && shmemx_request_wait_any(set, MANY, none) == SIZE_MAX);
    CHECK(shmemx_request_test_any(NULL, 0, NULL) == SIZE_MAX && shmemx_request_test_any(set, MANY, none) == SIZE_MAX);
    CHECK(shmemx_request_wait_some(NULL, 0, found, NULL) == 0 && shmemx_request_wait_some(set, MANY, found, none) == 0);
    CHECK(shmemx_request_test_some(NULL, 0, found, NULL) == 0 && shmemx_request_test_some(set, MANY, found, none) == 0);
    shmem_barrier_all();
}

/* Zero elements need no address. */
static void nothing_to_move(void)
{
    shmemx_request_t one = SHMEMX_REQUEST_NULL;
    static uint64_t signal;
    shmemx_putmem_nbe(NULL, NULL, 0, next_pe, &one);
    shmemx_getmem_nbe(NULL, NULL, 0, next_pe, &one);
    shmemx_long_iput_nbe(NULL, NULL, 1, 1, 0, next_pe, &one);
    shmemx_long_iget_nbe(NULL, NULL, 1, 1, 0, next_pe, &one);
    shmemx_long_put_signal_nbe(NULL, NULL, 0, &signal, 3, SHMEM_SIGNAL_ADD, next_pe, &one);
    CHECK_EQ(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 3), 3);
    shmemx_request_wait(&one);
    shmemx_request_free(&one);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    on_node = shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes;
    handles();
    empty_ones_are_complete();
    used_again();
    quiet_completes();
    fence_orders();
    complete_is_visible();
    merge_kinds();
    sets();
    nothing_to_move();
    return check_pass();
}
