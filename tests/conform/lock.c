/* Locks: mutual exclusion, test_lock, many locks, several at once, order of arrival, in globals and the heap; clear_lock
 * completes what was written inside.
 * prints: ^PASS$
 */
#include "check.h"

enum { ROUNDS = 40, LOCKS = 5 };
static long lock, counter, many[LOCKS], values[LOCKS];

/* Plain read-modify-write of a word on the last PE, by put and get: only mutual exclusion makes it right. */
static void exclusive(long *on)
{
    shmem_long_p(&counter, 0, npes - 1);
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(on);
        long now = shmem_long_g(&counter, npes - 1);
        shmem_long_p(&counter, now + 1, npes - 1);
        shmem_clear_lock(on);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, npes - 1), ROUNDS * npes);
    shmem_barrier_all();
}

/* The same by test_lock alone, and by both mixed. */
static void by_testing(long *on)
{
    shmem_long_p(&counter, 0, npes - 1);
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS / 2; i++) {
        if ((i + me) % 3 == 0)
            shmem_set_lock(on);
        else
            for (int got; (got = shmem_test_lock(on)) != 0; usleep(1))
                CHECK_EQ(got, 1);
        long now = shmem_long_g(&counter, npes - 1);
        shmem_long_p(&counter, now + 1, npes - 1);
        shmem_clear_lock(on);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, npes - 1), ROUNDS / 2 * npes);
    shmem_barrier_all();
}

/* While PE 0 holds a lock nobody else's test gets it; once it is clear exactly one test at a time does. */
static void tests_fail_while_set(long *on)
{
    if (me == 0)
        CHECK_EQ(shmem_test_lock(on), 0);
    shmem_barrier_all();
    if (me != 0)
        CHECK_EQ(shmem_test_lock(on), 1);
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(on);
    shmem_barrier_all();
    if (me == npes - 1) {
        CHECK_EQ(shmem_test_lock(on), 0);
        shmem_clear_lock(on);
    }
    shmem_barrier_all();
}

/* Locks of an array are independent; a PE holds several, taken in one order. */
static void array_of_locks(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int a = (i + me) % LOCKS, b = (i + 2 * me + 1) % LOCKS, low = a < b ? a : b, high = a < b ? b : a;
        shmem_set_lock(&many[low]);
        if (high != low)
            shmem_set_lock(&many[high]);
        for (int k = 0; k < LOCKS; k++)
            if (k == low || k == high)
                shmem_long_p(&values[k], shmem_long_g(&values[k], 0) + 1, 0);
        shmem_clear_lock(&many[low]);
        if (high != low)
            shmem_clear_lock(&many[high]);
        shmem_long_atomic_add(&counter, 1 + (high != low), 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        long sum = 0;
        for (int k = 0; k < LOCKS; k++)
            sum += values[k];
        CHECK_EQ(sum, counter);
    }
    shmem_barrier_all();
}

/* One trial: PE 0 holds the lock while the others come one after the other. Returns whether they were served so.
 * The standard offers no way to see a waiter, so PE 0 gives each some time from its last word before it waits. */
static int served_in_order(void)
{
    static long order[64], place, start, coming;
    place = start = coming = 0;
    shmem_barrier_all();
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me != 0) {
        shmem_long_wait_until(&start, SHMEM_CMP_EQ, 1);
        shmem_long_atomic_set(&coming, me, 0);
        shmem_set_lock(&lock);
        long at = shmem_long_atomic_fetch_inc(&place, 0);
        shmem_long_p(&order[at], me, 0);
        shmem_clear_lock(&lock);
    } else {
        for (int pe = 1; pe < npes; pe++) {
            shmem_long_atomic_set(&start, 1, pe);
            shmem_long_wait_until(&coming, SHMEM_CMP_EQ, pe);
            usleep(20000);
        }
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    int right = 1;
    for (int i = 0; i < npes - 1; i++)
        right &= shmem_long_g(&order[i], 0) == i + 1;
    shmem_barrier_all();
    return right;
}

/* First come, first served. A busy machine may spoil a trial, hardly three. */
static void first_come(void)
{
    CHECK(served_in_order() || served_in_order() || served_in_order());
}

int main(void)
{
    check_start();
    long *heap = check_alloc(sizeof(long));
    for (int life = 0; life < 2; life++) { /* the memory of a lock may serve again */
        *heap = 0;
        shmem_barrier_all();
        exclusive(heap);
        by_testing(heap);
        tests_fail_while_set(heap);
    }
    shmem_free(heap);
    exclusive(&lock);
    by_testing(&lock);
    tests_fail_while_set(&lock);
    if (me == 0)
        counter = 0;
    shmem_barrier_all();
    array_of_locks();
    first_come();
    return check_pass();
}
