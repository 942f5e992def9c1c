/* Collectives over active sets: barrier and sync. No PE leaves early; one work array serves in consecutive calls with
 * one set; disjoint sets do not wait for each other; barrier completes operations of the default context.
 * prints: ^PASS$
 */
#include "sets.h"

enum { ROUNDS = 50 };
static long came[SETS], own_sync[SETS][SHMEM_SYNC_SIZE], word[SETS], stored[SETS];

static void nobody_leaves_early(void)
{
    ON_EACH_SET(set)
    {
        long s = set - sets;
        for (long round = 1; round <= ROUNDS; round++) {
            if (round % set->size == place_in(set))
                usleep(60);
            shmem_long_atomic_inc(&came[s], set->start);
            shmem_quiet();
            if (round & 1)
                (shmem_sync)(SET_ARGUMENTS(set), own_sync[s]);
            else
                set_meet(set);
            CHECK(shmem_long_atomic_fetch(&came[s], set->start) >= round * set->size);
        }
        (shmem_sync)(SET_ARGUMENTS(set), own_sync[s]);
        set_restored(own_sync[s], COUNT_OF(own_sync[s]));
        set_meet(set);
    }
    shmem_barrier_all();
}

/* Puts among the members land before the barrier ends; stores are visible after a sync. */
static void completes(void)
{
    ON_EACH_SET(set)
    {
        int place = place_in(set), stride = 1 << set->log;
        long s = set - sets;
        int to = set->start + (place + 1) % set->size * stride,
            from = set->start + (place + set->size - 1) % set->size * stride;
        long *direct = shmem_ptr(&stored[s], to);
        int stores_to_me = shmem_ptr(&stored[s], from) != NULL; /* he and I share memory, then both ways */
        for (long round = 1; round <= ROUNDS; round++) {
            long value = round * 10 + me;
            shmem_long_put_nbi(&word[s], &value, 1, to);
            set_meet(set);
            CHECK_EQ(word[s], round * 10 + from);
            if (direct != NULL)
                *(volatile long *)direct = value;
            (shmem_sync)(SET_ARGUMENTS(set), own_sync[s]);
            CHECK(!stores_to_me || stored[s] == round * 10 + from);
            set_meet(set);
        }
    }
    shmem_barrier_all();
}

/* The lower half synchronises many times while the upper half has not begun. */
static void disjoint(void)
{
    static long sync[2][SHMEM_BARRIER_SYNC_SIZE], done;
    int low = (npes + 1) / 2, mine = me >= low;
    for (size_t i = 0; i < COUNT_OF(sync[0]); i++)
        sync[0][i] = sync[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (mine)
        shmem_long_wait_until(&done, SHMEM_CMP_EQ, 1);
    for (int i = 0; i < ROUNDS; i++)
        shmem_barrier(mine ? low : 0, 0, mine ? npes - low : low, sync[mine]);
    for (int pe = low; me == 0 && pe < npes; pe++)
        shmem_long_atomic_set(&done, 1, pe);
    shmem_barrier_all();
    CHECK_EQ(mine ? done : 1, 1);
}

int main(void)
{
    check_start();
    for (int s = 0; s < SETS; s++)
        for (size_t i = 0; i < COUNT_OF(own_sync[0]); i++)
            own_sync[s][i] = SHMEM_SYNC_VALUE;
    sets_create();
    nobody_leaves_early();
    completes();
    disjoint();
    return check_pass();
}
