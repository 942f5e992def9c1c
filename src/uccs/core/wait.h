/* The one wait, and its one policy.
 *
 * A thread that waits looks: at its variable, and at what must move on meanwhile, which is the registry of progress
 * (progress.h) or the sources that the caller names by looking itself. When a look has found nothing, it rests (uccs_rest):
 *
 *   spin      It looks again at once, uccs_core.spin times; not where more threads of this process wait for messages than it
 *             has cores (eventcount.h): looks of one keep the others from issuing.
 *   program   Then it calls the program's functions, and looks again if one of them found something.
 *   yield     It gives its core away. Where a look costs more than a load and a yield has found nobody who wants the core,
 *             some looks come before the next yield. After long fruitless yielding on a node with more PEs than cores it
 *             naps, so that the PEs with work get the cores; a message from another node wakes it.
 *   sleep     A waiter that something can wake (uccs_rest_on: descriptors of a transport) sleeps in place of a yield after
 *             a yield that took long. Where other threads want its core a yield costs it a time slice, some milliseconds,
 *             since a thread that yields again and again gets the core last; a thread that has slept gets it at once. Now
 *             and then it tries whether a yield is still slow.
 *
 * Of many threads that wait on the same messages one leads and the others sleep: eventcount.h.
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

/* The same as uccs_rest, for a waiter that descriptors can wake. Another thread may take the message that this one waits
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

#endif
