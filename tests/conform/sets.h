/* The active sets over which the deprecated collectives are tested, and work arrays that tell when they are not restored.
 *
 * A work array may serve again only when every member has left the collective before, so before each use the members meet
 * in a shmem_barrier with an array of its own, which may serve at once. */
#ifndef CONFORM_SETS_H
#define CONFORM_SETS_H
#include "check.h"

struct set {
    int start, log, size;
}; /* PEs start + i * 2^log for i below size */

enum { SETS = 5 };
static struct set sets[SETS];               /* size 0: not at this number of PEs */
static long sync_array[2][SHMEM_SYNC_SIZE]; /* for the collective under test, by turns */
static long meet_array[SETS][SHMEM_BARRIER_SYNC_SIZE];
static int sync_turn[SETS];

static inline void sets_create(void)
{
    sets[0] = (struct set){0, 0, npes};
    sets[1] = (struct set){0, 1, (npes + 1) / 2};
    sets[2] = (struct set){1, 0, npes - 1};
    sets[3] = (struct set){1, 2, npes > 1 ? (npes + 2) / 4 : 0};
    sets[4] = (struct set){npes - 1, 3, 1};
    for (size_t i = 0; i < COUNT_OF(sync_array[0]); i++)
        sync_array[0][i] = sync_array[1][i] = SHMEM_SYNC_VALUE;
    for (int s = 0; s < SETS; s++)
        for (size_t i = 0; i < COUNT_OF(meet_array[0]); i++)
            meet_array[s][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
}

/* My number in the set, or -1. */
static inline int place_in(const struct set *set)
{
    int away = me - set->start, stride = 1 << set->log;
    return away >= 0 && away % stride == 0 && away / stride < set->size ? away / stride : -1;
}

#define ON_EACH_SET(set)                                         \
    for (const struct set *set = sets; set < sets + SETS; set++) \
        if (place_in(set) >= 0)
#define SET_ARGUMENTS(set) (set)->start, (set)->log, (set)->size

static inline void set_meet(const struct set *set)
{
    shmem_barrier(SET_ARGUMENTS(set), meet_array[set - sets]);
}

/* Everybody's buffers are ready, and so is the work array that this returns. */
static inline long *set_ready(const struct set *set)
{
    set_meet(set);
    return sync_array[sync_turn[set - sets]++ & 1];
}

/* The work array is as it was. */
static inline void set_restored(const long *sync, size_t size)
{
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(sync[i], SHMEM_SYNC_VALUE);
}

#endif
