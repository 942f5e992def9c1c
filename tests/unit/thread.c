/* Numbers of threads: a thread that has ended gives its number to the next one; those that are there have different ones. */
#include "uccs/core/thread.h"

#include "unit/check.h"

#include <pthread.h>

enum { TOGETHER = 20, AFTER = 50 };

static pthread_barrier_t all;

static void *alone(void *number)
{
    *(uint32_t *)number = uccs_thread_new();
    return 0;
}

static void *together(void *number)
{
    *(uint32_t *)number = uccs_thread_new();
    pthread_barrier_wait(&all);
    return 0;
}

int main(void)
{
    pthread_t threads[TOGETHER];
    uint32_t numbers[TOGETHER], first, next;
    CHECK(uccs_threads() == 0 && uccs_thread_new() == 0 && uccs_thread() == 0 && uccs_threads() == 1);
    CHECK(pthread_create(&threads[0], 0, alone, &first) == 0 && pthread_join(threads[0], 0) == 0);
    CHECK(first == 1);
    for (int i = 0; i < AFTER; i++) {
        CHECK(pthread_create(&threads[0], 0, alone, &next) == 0 && pthread_join(threads[0], 0) == 0);
        CHECK(next == first);
    }
    CHECK(pthread_barrier_init(&all, 0, TOGETHER) == 0);
    for (int i = 0; i < TOGETHER; i++)
        CHECK(pthread_create(&threads[i], 0, together, &numbers[i]) == 0);
    for (int i = 0; i < TOGETHER; i++)
        CHECK(pthread_join(threads[i], 0) == 0);
    for (int i = 0; i < TOGETHER; i++) {
        CHECK(numbers[i] >= 1 && numbers[i] <= TOGETHER);
        for (int k = 0; k < i; k++)
            CHECK(numbers[k] != numbers[i]);
    }
    CHECK(uccs_threads() == TOGETHER + 1);
    return 0;
}
