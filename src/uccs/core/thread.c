#include "uccs/core/thread.h"

#include <pthread.h>
#include <stdbool.h>

#define WORDS (UCCS_THREAD_NUMBERS / 64)

_Thread_local uint32_t uccs_thread_mine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards these: */
static uint64_t taken[WORDS];                            /* a bit for each number */
static uint32_t most;                                    /* relaxed readers */
static pthread_key_t key;
static bool has_key;

/* A thread that calls again while it ends takes another number. */
static void give_back(void *number)
{
    const uint32_t mine = (uint32_t)(uintptr_t)number - 1;
    uccs_thread_mine = 0;
    pthread_mutex_lock(&lock);
    taken[mine / 64] &= ~(UINT64_C(1) << mine % 64);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. Returns the lowest free number; without one, a number that another thread has. */
static uint32_t take_number(bool *shared)
{
    for (uint32_t word = 0; word < WORDS; word++)
        if (~taken[word]) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(~taken[word]);
            taken[word] |= UINT64_C(1) << bit;
            return 64 * word + bit;
        }
    *shared = true;
    return UCCS_THREAD_NUMBERS - 1;
}

lat_cold uint32_t uccs_thread_new(void)
{
    bool shared = false;
    pthread_mutex_lock(&lock);
    if (!has_key)
        has_key = pthread_key_create(&key, give_back) == 0;
    const uint32_t mine = take_number(&shared);
    if (mine >= most)
        atomic_store_relaxed(&most, mine + 1);
    const bool returns = has_key && !shared;
    pthread_mutex_unlock(&lock);
    uccs_thread_mine = mine + 1;
    if (returns)
        (void)pthread_setspecific(key, (void *)(uintptr_t)uccs_thread_mine); /* else the number is never free again */
    return mine;
}

/* The library may be unloaded while threads go on. Runs behind its other destructors (rte/end.c), which may need the key. */
static __attribute__((destructor(101))) void forget_key(void)
{
    if (has_key)
        (void)pthread_key_delete(key);
}

uint32_t uccs_threads(void)
{
    return atomic_load_relaxed(&most);
}
