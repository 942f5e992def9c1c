/* Leader and followers: many threads of this process that wait for events of one kind, such as messages of one worker.
 *
 * While no more threads wait than there are cores, each looks itself. Above that one thread leads, which means that it looks,
 * and the others sleep on the eventcount until something has come in. If they all looked, and gave their cores away by
 * sched_yield after each look in vain, the kernel would take them for threads that can wait: beside a thread that works it
 * lets them run after some milliseconds at best, and all of them may stand still for a second.
 *
 * When something has come in, the leader wakes all sleepers. Those whose operations are complete leave, and issue the next
 * ones; then they come back and sleep. The leader gives its core to them first, so that their operations leave as one message.
 *
 * Use, where `variable` changes under the lock, before uccs_eventcount_tell:
 *     struct uccs_follower me;
 *     uccs_follower_begin(&me, &eventcount, &lock);
 *     while (the variable is not yet right)
 *         if (uccs_follower_may_look(&me, &wait) && !look())
 *             uccs_rest(&wait);
 *     uccs_follower_end(&me);
 *
 * Invariants:
 * - No lost wake-up. `count` grows, under the lock, after operations have completed (seqcst store). A follower loads it
 *   (acquire), then looks at its own variable, and then sleeps only while the count is still the same: the kernel compares.
 *   Who lets it grow loads `sleepers` after that, and a sleeper adds itself to `sleepers` before the kernel compares (both
 *   seqcst). So either the kernel sees the new count, or the teller sees the sleeper and wakes it.
 * - While a thread sleeps, another leads, or has been woken and not looked yet. A follower adds itself to `sleepers`, then
 *   loads `led`; a leader that goes stores 0 to `led`, then loads `sleepers` (all seqcst), and wakes one, which finds
 *   another count and so does not sleep again at once. So does every thread that goes and sees sleepers without a leader.
 *
 * The progress thread looks itself, and so does a leader that waits within one of the program's functions: others depend on
 * what they serve. A sleeper wakes up now and then: it records that its wait lasts, and calls the program's functions,
 * which may have to run on its thread. */
#ifndef UCCS_CORE_EVENTCOUNT_H
#define UCCS_CORE_EVENTCOUNT_H

#include "uccs/core/wait.h"

#include <limits.h>
#include <pthread.h>

/* Starts zeroed. `lock` below is a mutex of the caller, the same in all calls for one eventcount. */
struct uccs_eventcount {
    uint32_t count;    /* grows under the lock when something has come in; futex */
    uint32_t told;     /* 1: it has grown, and nobody has woken the sleepers; under the lock */
    uint32_t sleepers; /* seqcst */
    uint32_t led;      /* 1: a thread leads; seqcst */
    int32_t roused;    /* sleepers that have been woken and have not run yet; relaxed, a hint */
};

/* --- Who lets it grow */

/* Notes, under the lock, that something has come in. */
void uccs_eventcount_tell(struct uccs_eventcount *events);

void uccs_eventcount_wake(struct uccs_eventcount *events, int most);

/* The eventcount that this thread leads while it looks; it wakes the sleepers afterwards. Null: none. */
extern _Thread_local const struct uccs_eventcount *uccs_eventcount_led_here;

/* Releases the lock, and wakes the sleepers if something has come in. */
static inline void uccs_eventcount_unlock(struct uccs_eventcount *events, pthread_mutex_t *lock)
{
    const bool wakes = atomic_load_relaxed(&events->told) && uccs_eventcount_led_here != events;
    if (wakes)
        atomic_store_relaxed(&events->told, 0);
    pthread_mutex_unlock(lock);
    if (wakes && lat_unlikely(atomic_load_seqcst(&events->sleepers)))
        uccs_eventcount_wake(events, INT_MAX);
}

/* --- How many wait, in all eventcounts of this process; hints. */

extern uint32_t uccs_waiting;       /* threads; relaxed */
extern uint32_t uccs_waiting_cores; /* on which this process runs; written at the start */

/* Adds a thread that waits for completions without an eventcount, or takes it out again (-1). */
void uccs_waiting_count(int change);

/* Returns true when more threads wait than there are cores. */
static inline bool uccs_waiters_exceed_cores(void)
{
    return atomic_load_relaxed(&uccs_waiting) > uccs_waiting_cores;
}

/* Returns the same for the threads that do not sleep. */
bool uccs_awake_exceed_cores(void);

/* --- Who waits */

struct uccs_follower {
    struct uccs_eventcount *events;
    pthread_mutex_t *lock;
    uint32_t seen; /* of the count */
    bool leads;
};

void uccs_follower_begin(struct uccs_follower *me, struct uccs_eventcount *events, pthread_mutex_t *lock);
void uccs_follower_end(struct uccs_follower *me);

bool uccs_follower_may_look_slow(struct uccs_follower *me, struct uccs_wait *wait);

/* Returns true when this thread is to look for events. Else another thread does, and this one has slept, or has found
 * another count: it looks at its variable. */
static inline bool uccs_follower_may_look(struct uccs_follower *me, struct uccs_wait *wait)
{
    return lat_likely(!me->leads && !uccs_waiters_exceed_cores()) || uccs_follower_may_look_slow(me, wait);
}

#endif
