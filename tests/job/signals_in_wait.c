/* A signal handler that runs while its PE waits disturbs no wait.
 * pes: 2 4
 */
#include <shmem.h>
#include <signal.h>
#include <sys/time.h>

static long flag;
static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks++;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    signal(SIGALRM, tick);
    struct itimerval often = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &often, 0);
    for (long round = 1; round <= 20; round++) {
        if (me == 0) {
            while (ticks < round * 3)
                ;
            for (int pe = 1; pe < npes; pe++)
                shmem_long_atomic_set(&flag, round, pe);
        } else
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        shmem_barrier_all();
    }
    shmem_finalize();
    return ticks < 60 && me == 0;
}
