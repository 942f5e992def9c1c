/* Moves a known number of bytes and waits at known lines, for tests/launch/check_stats.py.
 * pes: 2 4 */
#include <pthread.h>
#include <shmem.h>
#include <unistd.h>

#define PUTS 10

static int room[100], from[100];
static uint64_t arrived;
static long all;

static void *wait_for_signal(void *unused)
{
    (void)unused;
    shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, 1);
    return 0;
}

int main(void)
{
    int provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    pthread_create(&thread, 0, wait_for_signal, 0);
    for (int i = 0; i < PUTS; i++)
        shmem_int_put(room, from, 100, next);
    shmem_sync_all();
    if (me == 0)
        usleep(300000);
    shmem_barrier_all(); /* all but PE 0 wait here */
    shmem_long_atomic_add(&all, 1, 0);
    shmem_double_g((double *)room, next);
    shmem_putmem_signal(room, from, 8, &arrived, 1, SHMEM_SIGNAL_ADD, next);
    pthread_join(thread, 0);
    shmem_finalize();
    return 0;
}
