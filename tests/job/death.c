/* A PE that dies, by a signal or an exit, ends the job while the others wait in every possible way.
 * pes: 4
 * timeout: 20
 * case: kill_in_barrier
 * args: kill barrier
 * status: 137
 * fails: PE 1 .*signal 9
 * case: kill_in_wait
 * args: kill wait
 * status: 137
 * fails: PE 1 .*signal 9
 * case: kill_in_lock
 * args: kill lock
 * status: 137
 * fails: PE 1 .*signal 9
 * case: kill_computing
 * args: kill compute
 * status: 137
 * fails: PE 1 .*signal 9
 * case: segv
 * args: segv barrier
 * status: 139
 * fails: PE 1 .*signal 11
 * case: exit_with_status
 * args: exit barrier
 * status: 7
 * fails: PE 1 .*7
 * case: global_exit
 * args: global barrier
 * status: 5
 * case: return_without_finalize
 * args: return nothing
 * status: 0
 */
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long lock, flag;

static void die(const char *how)
{
    usleep(100000);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    else if (!strcmp(how, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    } else if (!strcmp(how, "exit"))
        exit(7);
    else if (!strcmp(how, "global"))
        shmem_global_exit(5);
}

static void wait_for_ever(const char *where)
{
    if (!strcmp(where, "barrier"))
        shmem_barrier_all();
    else if (!strcmp(where, "wait"))
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    else if (!strcmp(where, "lock"))
        shmem_set_lock(&lock);
    else if (!strcmp(where, "compute"))
        for (volatile int go = 1; go;)
            ;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 99;
    shmem_init();
    int me = shmem_my_pe();
    if (!strcmp(argv[1], "return"))
        return 0; /* exit finalizes */
    if (!strcmp(argv[2], "lock") && me == 1)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == 1)
        die(argv[1]);
    else
        wait_for_ever(argv[2]);
    shmem_finalize();
    return 98;
}
