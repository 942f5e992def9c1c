/* Locks under several threads of several PEs: sections exclude each other, everybody gets through, the PE that asked first
 * comes first, any thread of the PE may clear, and the lock's words are at rest in the end.
 * pes: 1 2 3
 * timeout: 60
 */
#include "../conform/check.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 3, ROUNDS = 150 };

static long lock, value, order[1 + THREADS], passed;

/* Plain read and write of a word of the last PE: only mutual exclusion makes the sum right. */
static void section(void)
{
    long now = shmem_long_g(&value, npes - 1);
    shmem_long_p(&value, now + 1, npes - 1);
}

static void *set_or_test(void *argument)
{
    long id = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        if ((i + id) % 3)
            shmem_set_lock(&lock);
        else
            while (shmem_test_lock(&lock))
                sched_yield();
        section();
        shmem_clear_lock(&lock);
    }
    return 0;
}

static void with_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
}

static void *set_by_one(void *argument)
{
    shmem_set_lock(&lock);
    return argument;
}

static void *note_order(void *argument)
{
    shmem_set_lock(&lock);
    shmem_long_p(&order[shmem_long_atomic_fetch_inc(&passed, 0)], me + 1, 0);
    shmem_clear_lock(&lock);
    return argument;
}

/* A thread of PE 0 that is gone holds the lock. The last PE asks, then threads of PE 0 do: the last PE comes first. */
static void the_first_to_ask(void)
{
    pthread_t threads[THREADS];
    if (me == 0) {
        pthread_create(&threads[0], 0, set_by_one, 0);
        pthread_join(threads[0], 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        if (npes > 1) /* the upper half of the word names the PE behind from bit 3 on (src/shmem/lock_turn.h) */
            shmem_long_wait_until(&lock, SHMEM_CMP_GE, 8L << 32);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], 0, note_order, 0);
        usleep(2000); /* most threads ask before the lock is clear; what is checked holds for any */
        shmem_clear_lock(&lock);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], 0);
    } else if (me == npes - 1) {
        note_order(0);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&passed, 0), THREADS + (npes > 1));
    CHECK_EQ(shmem_long_g(&order[0], 0), npes);
    CHECK_EQ(lock, 0);
}

int main(void)
{
    int provided;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    check_who();
    with_threads(set_or_test);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&value, npes - 1), (long)THREADS * ROUNDS * npes);
    CHECK_EQ(lock, 0);
    shmem_barrier_all();
    the_first_to_ask();
    return check_pass();
}
