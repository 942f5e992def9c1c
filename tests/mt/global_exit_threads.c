/* Several threads call shmem_global_exit at the same time: the program's exit handlers run once and to their end.
 * pes: 1 2
 * status: 7
 * prints: ^exit handler done$
 * skip: tsan
 */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4

static pthread_barrier_t together;

static void take_time(void)
{
    usleep(200000);
    puts("exit handler done");
}

static void *leave(void *unused)
{
    pthread_barrier_wait(&together);
    shmem_global_exit(7);
    return unused;
}

int main(void)
{
    int provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    atexit(take_time);
    pthread_barrier_init(&together, 0, THREADS);
    for (int i = 1; shmem_my_pe() == 0 && i < THREADS; i++)
        pthread_create(&thread, 0, leave, 0);
    if (shmem_my_pe() == 0)
        leave(0);
    sleep(30);
    return 1;
}
