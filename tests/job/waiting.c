/* PE 1 waits for PE 0, which sleeps, in calls of many kinds, for tests/launch/check_stats.py.
 * pes: 2 */
#include <shmem.h>
#include <unistd.h>

#define GETS 20000
#define SLEEP_US 200000

static long flag, lock, word, from[16], to[16];

int main(void)
{
    shmem_init();
    const int me = shmem_my_pe();
    for (int i = 0; me == 1 && i < GETS; i++)
        word += shmem_long_g(&word, 0);
    shmem_sync_all();
    if (me == 0)
        usleep(SLEEP_US);
    void *memory = shmem_malloc(100);
    if (me == 0)
        usleep(SLEEP_US);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, 10, 0);
    if (me == 0) {
        usleep(SLEEP_US);
        shmem_long_p(&flag, 1, 1);
        shmem_quiet();
    } else {
        while (!shmem_long_test(&flag, SHMEM_CMP_EQ, 1))
            ;
    }
    if (me == 0) {
        usleep(SLEEP_US);
        shmem_set_lock(&lock);
    }
    shmem_barrier_all();
    if (me == 0) {
        usleep(SLEEP_US);
        shmem_clear_lock(&lock);
    } else {
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    if (me == 0) {
        usleep(SLEEP_US);
        shmem_long_atomic_set(&flag, 2, 0);
    } else {
        while (shmem_long_atomic_fetch(&flag, 0) != 2)
            ;
    }
    shmem_free(memory);
    shmem_finalize();
    return 0;
}
