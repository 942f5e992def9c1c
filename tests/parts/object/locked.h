/* Mutexes that are counted: the sources that a test includes take them by these functions once it has given them the names of the
 * real ones. */
#ifndef TESTS_PARTS_LOCKED_H
#define TESTS_PARTS_LOCKED_H

#include "unit/check.h"

#include <pthread.h>

static int locked; /* mutexes that are held */

static inline int lock_mutex(pthread_mutex_t *mutex)
{
    locked++;
    return pthread_mutex_lock(mutex);
}

static inline int try_mutex(pthread_mutex_t *mutex)
{
    const int status = pthread_mutex_trylock(mutex);
    locked += status == 0;
    return status;
}

static inline int unlock_mutex(pthread_mutex_t *mutex)
{
    CHECK(--locked >= 0);
    return pthread_mutex_unlock(mutex);
}

#endif
