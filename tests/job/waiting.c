/* PE 1 waits for PE 0, which sleeps meanwhile, in calls of many kinds, for tests/launch/check_stats.py.
 * pes: 2 */
#include <shmem.h>
#include <unistd.h>

#define GETS 20000
#define SLEEP_US 200000

static long ready, flag, lock, word, from[16], to[16];

/* PE 1 is about to wait; PE 0 sleeps from then on. */
static void keep_waiting(void)
{
    static long step;
    step++;
    if (shmem_my_pe() == 1) {
        shmem_long_p(&ready, step, 0);
        shmem_quiet();
    } else {
        shmem_long_wait_until(&ready, SHMEM_CMP_GE, step);
        usleep(SLEEP_US);
    }
}

int main(void)
{
    shmem_init();
    const int me = shmem_my_pe();
    for (int i = 0; me == 1 && i < GETS; i++)
        word += shmem_long_g(&word, 0);
    keep_waiting();
    void *memory = shmem_malloc(100);
    keep_waiting();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, 10, 0);
    keep_waiting();
    if (me == 0)
        shmem_long_p(&flag, 1, 1);
    else
        while (!shmem_long_test(&flag, SHMEM_CMP_EQ, 1))
            ;
    keep_waiting();
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    keep_waiting();
    if (me == 0) {
        shmem_clear_lock(&lock);
    } else {
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    keep_waiting();
    if (me == 0)
        shmem_long_atomic_set(&flag, 2, 0);
    else
        while (shmem_long_atomic_fetch(&flag, 0) != 2)
            ;
    shmem_free(memory);
    shmem_finalize();
    return 0;
}
