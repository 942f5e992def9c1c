/* Collectives over active sets: more sets and work arrays than any table could hold, from freed and reused memory, several under
 * way at once, and again after the library was finalized and initialised. The standard bounds none of it.
 * prints: ^PASS$
 */
#include "check.h"

enum { ARRAYS = 90 };

static long *make_arrays(size_t count)
{
    long *sync = shmem_malloc(count * SHMEM_SYNC_SIZE * sizeof(long));
    CHECK(sync != NULL);
    for (size_t i = 0; i < count * SHMEM_SYNC_SIZE; i++)
        sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    return sync;
}

/* A new work array for each of many calls; the next only begins when all have left, as each has its own. */
static void many_arrays(void)
{
    static long dest[ARRAYS], source[ARRAYS], all[ARRAYS][64];
    long *sync = make_arrays(ARRAYS * 2);
    for (long i = 0; i < ARRAYS; i++) {
        source[i] = me * 1000 + i;
        shmem_broadcast64(&dest[i], &source[i], 1, (int)i % npes, 0, 0, npes, sync + 2 * i * SHMEM_SYNC_SIZE);
        CHECK(i % npes == me || dest[i] == i % npes * 1000 + i);
        shmem_fcollect64(all[i], &source[i], 1, 0, 0, npes, sync + (2 * i + 1) * SHMEM_SYNC_SIZE);
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(all[i][pe], pe * 1000 + i);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < (size_t)ARRAYS * 2 * SHMEM_SYNC_SIZE; i++)
        CHECK_EQ(sync[i], SHMEM_SYNC_VALUE);
    shmem_free(sync);
}

/* Every contiguous set at this number of PEs, each with a work array of its own, in an order in which they overlap. */
static void every_set(void)
{
    static long sums[64], mine[64]; /* an element for each set: destinations must be ready on all */
    long *sync = make_arrays((size_t)npes * (size_t)npes * 2),
         *work = shmem_malloc(SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof(long) + 64);
    for (int round = 0; round < 3; round++) {
        for (int start = 0; start < npes; start++)
            for (int size = 1; start + size <= npes; size++) {
                long *own = sync + ((size_t)start * (size_t)npes + (size_t)size - 1) * 2 * SHMEM_SYNC_SIZE;
                if (me < start || me >= start + size)
                    continue;
                int i = start * 8 + size;
                mine[i] = me + 1;
                shmem_long_sum_to_all(&sums[i], &mine[i], 1, start, 0, size, work, own);
                CHECK_EQ(sums[i], (long)size * (2 * start + size + 1) / 2);
                shmem_barrier(start, 0, size, own + SHMEM_SYNC_SIZE);
            }
        shmem_barrier_all();
    }
    shmem_free(work);
    shmem_free(sync);
}

/* A work array where another has been, with other members, after the memory was used for something else. */
static void reused_memory(void)
{
    for (int round = 0; round < 12; round++) {
        int size = 1 + round % npes, start = npes - size;
        static long dest, source;
        long *sync = make_arrays(1);
        source = round;
        dest = -1;
        shmem_barrier_all();
        if (me >= start) {
            shmem_broadcast64(&dest, &source, 1, 0, start, 0, size, sync);
            CHECK(me == start ? dest == -1 : dest == round);
        }
        shmem_barrier_all();
        memset(sync, round, SHMEM_SYNC_SIZE * sizeof(long));
        shmem_free(sync);
    }
}

int main(void)
{
    for (int life = 0; life < 3; life++) {
        check_start();
        many_arrays();
        every_set();
        reused_memory();
        if (life == 2)
            return check_pass();
        shmem_finalize();
    }
}
