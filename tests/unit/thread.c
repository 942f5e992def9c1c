/* Numbers of threads: a thread that has ended gives its number to the next one; those that are there have different ones, until there
 * are more than numbers. */
#include <pthread.h>

static int make_key(pthread_key_t *key, void (*end)(void *));
#define pthread_key_create make_key
#include "uccs/core/thread.c"
#undef pthread_key_create

#include "unit/check.h"

enum { TOGETHER = 20, AFTER = 50 };

static pthread_barrier_t all;
static int keys;

/* Threads take numbers one at a time, and share one key. */
static int make_key(pthread_key_t *made, void (*end)(void *))
{
    CHECK(pthread_mutex_trylock(&lock) != 0 && ++keys == 1);
    return pthread_key_create(made, end);
}

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

static void *asked_twice(void *number)
{
    *(uint32_t *)number = uccs_thread();
    CHECK(uccs_thread() == *(uint32_t *)number && uccs_thread_mine == *(uint32_t *)number + 1);
    return 0;
}

static uint32_t number_of_new(void)
{
    pthread_t thread;
    uint32_t number = 0;
    CHECK(pthread_create(&thread, 0, asked_twice, &number) == 0 && pthread_join(thread, 0) == 0);
    return number;
}

/* Threads that find all numbers taken share the last one, and it stays its owner's. */
static void test_none_free(void)
{
    uint64_t before[WORDS];
    memcpy(before, taken, sizeof taken);
    memset(taken, 0xff, sizeof taken);
    CHECK(number_of_new() == UCCS_THREAD_NUMBERS - 1 && uccs_threads() == UCCS_THREAD_NUMBERS);
    CHECK(number_of_new() == UCCS_THREAD_NUMBERS - 1 && taken[WORDS - 1] == UINT64_MAX);
    static const uint32_t some[] = {UCCS_THREAD_NUMBERS - 1, 64, 63, 0, 65, 2000};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        taken[some[i] / 64] &= ~(UINT64_C(1) << some[i] % 64); /* the only one that is free */
        CHECK(number_of_new() == some[i] && number_of_new() == some[i]);
        taken[some[i] / 64] = UINT64_MAX;
    }
    taken[2] &= ~(UINT64_C(3) << 7); /* of two that are free the lowest */
    CHECK(number_of_new() == 135 && number_of_new() == 135 && taken[2] == ~(UINT64_C(3) << 7));
    memcpy(taken, before, sizeof taken);
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
    test_none_free();
    return 0;
}
