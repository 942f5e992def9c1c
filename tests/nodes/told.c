/* A wait for another node leaves its record also where the waiter shares its processor with a thread that works: there it sleeps
 * between its looks rather than yield.
 * pes: 2
 * cores: 1
 * env: LATERAL_NODE_SIZE=1 LATERAL_TRANSPORTS=ucx UCX_TLS=tcp,self LATERAL_PROGRESS=poll
 * oshrun: --timeout 3
 * labels: more
 * status: 124
 * fails: PE 0 +\S+ \(.*waits for PE 1\) +[0-9.]+ s +told\.c:[0-9]+ */
#define _GNU_SOURCE /* sched_setaffinity */
#include "../conform/check.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

static long word, pid;

static void *work(void *unused)
{
    for (volatile int round = 0;;)
        round = !round;
    return unused;
}

/* On the first processor that this process may use. */
static void share_processor(void)
{
    cpu_set_t all, one;
    pthread_t thread;
    int first = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0); /* its threads inherit it */
    CHECK_EQ(pthread_create(&thread, 0, work, 0), 0);
}

int main(void)
{
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    sigprocmask(SIG_BLOCK, &told, 0);
    check_start();
    shmem_long_p(&pid, getpid(), 1 - me);
    shmem_barrier_all();
    if (me == 1) {
        kill((pid_t)pid, SIGUSR1);
        pause(); /* executes nothing any more */
    }
    CHECK_EQ(sigtimedwait(&told, 0, &(struct timespec){30, 0}), SIGUSR1);
    share_processor();
    shmem_long_p(&word, 2, 1);
    shmem_quiet();
    return 1;
}
