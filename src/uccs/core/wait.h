/* The one wait, and its one policy.
 *
 * A thread that waits looks: at its variable, and at what must move on meanwhile, which is the registry of progress
 * (progress.h) or the sources that the caller names by looking itself. When a look has found nothing, it rests (uccs_rest):
 *
 *   spin      It looks again at once, uccs_core.spin times; not where more threads of this process wait for messages than it
 *             has cores (below): looks of one keep the others from issuing.
 *   program   Then it calls the program's functions, and looks again if one of them found something.
 *   yield     It gives its core away. Where a look costs more than a load and a yield has found nobody who wants the core,
 *             some looks come before the next yield. After long fruitless yielding on a node with more PEs than cores it
 *             naps, so that the PEs with work get the cores; a message from another node wakes it.
 *   sleep     A waiter that something can wake (uccs_rest_on: descriptors of a transport) sleeps in place of a yield after
 *             a yield that took long. Where other threads want its core a yield costs it a time slice, some milliseconds,
 *             since a thread that yields again and again gets the core last; a thread that has slept gets it at once. Now
 *             and then it tries whether a yield is still slow.
 *
 * Of many threads that wait on the same messages one leads and the others sleep: struct uccs_eventcount.
 *
 * After the first look of uccs_pause the waiter lets its earlier loads complete. Otherwise the processor would run later
 * looks, and the loads of the data behind them, ahead of time and fetch lines that the peer is still writing.
 *
 * No lost wake-up: a waiter that spins, yields or sleeps for a limited time looks again by itself. The only sleeps that
 * somebody must end are those of an eventcount and of the progress thread; their files argue them.
 *
 * Any thread:
 *     struct uccs_wait wait uccs_scoped = {.on = ...};
 *     while (atomic_load_acquire(flag) != value)
 *         uccs_pause(&wait);
 * A signal only makes the loop look again. */
#ifndef UCCS_CORE_WAIT_H
#define UCCS_CORE_WAIT_H

#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <limits.h>
#include <pthread.h>

struct pollfd;

/* Makes one step of a wait: looks at the registry, and rests when the look found nothing. The caller holds no lock that a
 * source could need. */
void uccs_pause_slow(struct uccs_wait *wait);

static inline void uccs_pause(struct uccs_wait *wait)
{
    if (lat_likely(wait->looks && wait->looks < uccs_core.spin && !atomic_load_relaxed(&uccs_progress_due)))
        wait->looks++;
    else
        uccs_pause_slow(wait);
}

/* Rests after a look that found nothing, for callers that look themselves and hold no lock that the program's functions could
 * need. */
void uccs_rest(struct uccs_wait *wait);

enum { UCCS_REST_FILES = 64 }; /* descriptors that a sleep waits for, at most */

/* Lists the descriptors of a set that become readable when something comes in. Returns their number; -1: something has come in
 * already, so the caller must look. A set whose descriptor another thread serves is left out. */
typedef int uccs_arm_function(uint64_t set, struct pollfd *files);

/* Lists the descriptor of the service worker (set 1) for waiters that nap; null: no messages come from other nodes. Stored before
 * other threads wait. */
extern uccs_arm_function *uccs_wait_arm;

/* Like uccs_rest, for a waiter that descriptors can wake. Another thread may take the message that this one waits
 * for, so the sleep is short. */
void uccs_rest_on(struct uccs_wait *wait, uccs_arm_function *arm, uint64_t set);

/* Returns how often sleeps may double where `pes_per_core` PEs share each core. */
uint32_t uccs_wait_naps(uint32_t pes_per_core);

/* Waits until no task and no callback is left. Other processes need this one's share also of tasks that nobody here waits
 * for. */
void uccs_wait_tasks_finished(void);

/* --- Waits of the program's own: loops of tests, or of uccs_progress
 *
 * A test that found nothing makes a look, polls, and gives its core away where the node has more PEs than cores, and now and
 * then on any node, since threads may outnumber cores. While there are sources but no tasks, and tests follow each other
 * quickly, most tests leave the look out. */

/* Gives the core away, unless a yield has just found nobody who wants it and looks cost more than some loads (`cheap_looks`
 * false). For calls that look once and found nothing, such as those of uccs_progress in a loop of the program. Returns for how
 * long the core was given away; 0: it was not, or that is not known. */
uint64_t uccs_yield_core(bool cheap_looks);

extern _Thread_local uint8_t uccs_progress_misses;   /* tests of this thread that found nothing */
extern _Thread_local uint32_t uccs_progress_omitted; /* tests of this thread until the next one that looks */

void uccs_missed_slow(bool yield);

static inline bool uccs_missed_has_work(void)
{
    return atomic_load_relaxed(&uccs_progress_due) | atomic_load_relaxed(&uccs_progress_idle);
}

static inline bool uccs_missed_omits(void)
{
    if (!uccs_progress_omitted || uccs_progress_has_tasks())
        return false;
    uccs_progress_omitted--;
    return true;
}

/* Every test that found nothing calls this before it returns. */
static inline void uccs_missed(void)
{
    bool yield = (++uccs_progress_misses == 0) | (uccs_core.oversubscribed != 0);
    if (lat_unlikely(yield || (uccs_missed_has_work() && !uccs_missed_omits())))
        uccs_missed_slow(yield);
}

/* Every fetch of a value calls this. It cannot know whether the caller found what he waits for, so it yields less often. */
static inline void uccs_fetched(void)
{
    bool yield = (++uccs_progress_misses & (uccs_core.oversubscribed ? 63 : 255)) == 0;
    if (lat_unlikely(yield || (uccs_missed_has_work() && !uccs_missed_omits())))
        uccs_missed_slow(yield);
}

/* Returns where this thread's search of a set of requests or counters begins: behind the member that it found last. So
 * no member starves. The position is kept by the set's address, since a program may wait for several sets in turns. */
static inline size_t *uccs_progress_turn_of(const void *set)
{
    static _Thread_local size_t turns[16];
    return &turns[((uintptr_t)set >> 3) * 0x9E3779B97F4A7C15u >> 60];
}

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
