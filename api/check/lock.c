/* Locks that this PE holds: which thread has set each, and where. The library itself refuses to clear a lock that the PE
 * does not hold. */
#include "rules.h"
#include "base/where.h"

#include <pthread.h>
#include <stdlib.h>

struct held {
    struct held *next;
    const long *lock;
    pthread_t thread;
    uint64_t place;
};

static struct held *held_locks;
static pthread_mutex_t held_guard = PTHREAD_MUTEX_INITIALIZER;

void check_lock_set(const char *call, const long *lock)
{
    char where[128];
    pthread_mutex_lock(&held_guard);
    struct held *held = held_locks;
    while (held && (held->lock != lock || !pthread_equal(held->thread, pthread_self())))
        held = held->next;
    pthread_mutex_unlock(&held_guard);
    if (!held)
        return;
    where_write_at(held->place, where, sizeof where);
    lat_check_fail(call, "lock", "%p was set before by this thread%s, which would now wait for itself",
                   (const void *)lock, where);
}

void check_lock_held(const long *lock, const void *from)
{
    struct held *held = malloc(sizeof *held);
    if (!held)
        lat_check_fail("the checking layer", "memory", "exhausted");
    pthread_mutex_lock(&held_guard);
    *held = (struct held){held_locks, lock, pthread_self(), where_of(from)};
    held_locks = held;
    pthread_mutex_unlock(&held_guard);
}

void check_lock_clear(const long *lock)
{
    pthread_mutex_lock(&held_guard);
    for (struct held **at = &held_locks; *at; at = &(*at)->next)
        if ((*at)->lock == lock) {
            struct held *held = *at;
            *at = held->next;
            free(held);
            break;
        }
    pthread_mutex_unlock(&held_guard);
}

void check_locks_end(const char *call)
{
    char where[128];
    for (struct held *held = held_locks; held; held = held->next) {
        where_write_at(held->place, where, sizeof where);
        lat_check_warn(call, "lock %p is still set%s", (const void *)held->lock, where);
    }
    while (held_locks)
        check_lock_clear(held_locks->lock);
}
