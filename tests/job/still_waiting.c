/* The end of a process in which a thread still waits for what never comes: the thread ends with the process, in silence. One
 * that calls again after the last finalize is told so.
 * pes: 2
 * case: wait
 * args: wait
 * case: wait_exit
 * args: wait exit
 * case: test_exit
 * args: test exit
 * case: test
 * args: test
 * fails: PE [01]: shmem_long_test: called after the last shmem_finalize
 */
#include "../conform/check.h"

#include <pthread.h>

static long never;

static void *wait_for_it(void *unused)
{
    shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
    return unused;
}

static void *test_it(void *unused)
{
    while (!shmem_long_test(&never, SHMEM_CMP_EQ, 1))
        ;
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    CHECK(argc > 1);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    check_who();
    CHECK_EQ(pthread_create(&thread, 0, strcmp(argv[1], "wait") == 0 ? wait_for_it : test_it, 0), 0);
    usleep(20000); /* so that it is in its wait */
    check_all_passed();
    if (argc == 2)
        shmem_finalize();
    if (argc == 2 && strcmp(argv[1], "test") == 0)
        pthread_join(thread, 0); /* its next call ends the process */
    usleep(20000);
    return 0;
}
