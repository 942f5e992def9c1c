/* Waiting: the only wait loop. Spin briefly, then yield; on a node with more PEs than cores yield
 * at once, and after long fruitless yielding sleep for short times, so that the PEs with work get
 * the cores. A signal only makes the loop look again.
 *
 * Spinning has three parts, since a look takes the line away from the PE that is about to write it. After the first
 * look the waiter lets its earlier loads complete, because the processor tries later looks, and loads of the data
 * behind them, ahead of time: they fetch lines that the peer is still writing. Then the waiter looks as often as it
 * can, for as long as a PE that shares a cache with it needs to answer (about 0.1 us). A PE further away needs
 * longer, and from then on the processor pauses between two looks.
 *
 * Any thread:
 *     struct uccs_wait wait = {0};
 *     while (atomic_load_acquire(flag) != value)
 *         uccs_pause(&wait);
 */
#ifndef UCCS_CORE_WAIT_H
#define UCCS_CORE_WAIT_H

#include "uccs/core/core.h"

#include <stdbool.h>

enum { UCCS_FAST_LOOKS = 64 }; /* before a waiter pauses between looks */

struct uccs_wait {
    uint32_t looks;
};

/* Pollers look for what others have sent to this process. A poller returns non-zero when it found something, and
 * must not wait. Upper folders add theirs, so that every wait serves them without knowing them. */
enum uccs_poller_when {
    UCCS_POLL_ALWAYS, /* at every look of every wait, and in tests: counts as a piece of work that never ends */
    UCCS_POLL_IDLE    /* in waits once they have spun in vain, and in tests that found nothing */
};
enum { UCCS_POLLERS = 2 }; /* of each kind, at most */

/* Add: one thread for each poller. After remove returns, a thread that was waiting may still be in the poller. */
void uccs_poller_add(int (*poll)(void), enum uccs_poller_when when);
void uccs_poller_remove(int (*poll)(void));

/* Calls all pollers of a kind: non-zero when one of them found something. Any thread. */
int uccs_poll(enum uccs_poller_when when);

/* Work that a waiting or testing thread moves on: non-blocking collectives. `advance` runs on one
 * thread at a time, holding the list; it returns true when it is finished, and is not called again. It
 * must not wait. What takes long, such as copying, it leaves to a function that it stores in `labour`: the
 * same thread calls that once, without the list, so that other work goes on meanwhile, and then `advance` again. */
struct uccs_work {
    bool (*advance)(struct uccs_work *work);
    void (*labour)(struct uccs_work *work); /* null: none is due */
    bool busy;                              /* a thread is in its labour; under the list's lock */
    struct uccs_work *next;
};

extern uint32_t uccs_idlers;  /* pollers of the kind idle; relaxed: a hint */
extern uint32_t uccs_working; /* pieces of work on the list, and pollers that always poll; relaxed: a hint */

void uccs_work_add(struct uccs_work *work);
/* Non-zero when a poller found something. */
int uccs_work_slow(void);

/* Work that nobody waited for still needs this process's share. */
void uccs_work_finish(void);

/* Moves pending work on. Any thread; returns at once when another thread is at it. */
static inline void uccs_work_on(void)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_working) != 0))
        uccs_work_slow();
}

void uccs_pause_slow(struct uccs_wait *wait);
void uccs_yield_slow(struct uccs_wait *wait);

/* Only gives time away: for those who make progress themselves at every look. */
static inline void uccs_yield(struct uccs_wait *wait)
{
    if (lat_likely(wait->looks < uccs_core.spin))
        wait->looks++;
    else
        uccs_yield_slow(wait);
}

/* Where this thread's search of a set for any that is done begins: behind the one found last. Kept by the
 * set's address, so that a program that waits for sets in turns starves none of their members. */
static inline size_t *uccs_turn_of(const void *set)
{
    static _Thread_local size_t turns[16];
    return &turns[((uintptr_t)set >> 3) * 0x9E3779B97F4A7C15u >> 60];
}

/* Tests, whose caller goes on. A loop of tests is a wait as well, so one that found nothing does what a wait does: it moves
 * work on, calls the pollers, and gives the core away where the node has more PEs than cores. Now and then it gives the
 * core away anywhere, since there may be more threads than cores. While only pollers are there, and tests follow each other
 * quickly, most leave out their look. */
extern _Thread_local uint8_t uccs_misses; /* of this thread */
void uccs_missed_slow(bool yield);

static inline bool uccs_miss_has_work(void)
{
    return atomic_load_relaxed(&uccs_working) | atomic_load_relaxed(&uccs_idlers);
}

static inline void uccs_missed(void)
{
    bool yield = (++uccs_misses == 0) | (uccs_core.oversubscribed != 0);
    if (lat_unlikely(yield | uccs_miss_has_work()))
        uccs_missed_slow(yield);
}

/* For fetches, which do not know whether the caller found what it waits for: they give the core away less often. */
static inline void uccs_fetched(void)
{
    bool yield = (++uccs_misses & (uccs_core.oversubscribed ? 63 : 255)) == 0;
    if (lat_unlikely(yield | uccs_miss_has_work()))
        uccs_missed_slow(yield);
}

static inline void uccs_pause(struct uccs_wait *wait)
{
    if (lat_likely(wait->looks - 1 < UCCS_FAST_LOOKS && wait->looks < uccs_core.spin &&
                   !atomic_load_relaxed(&uccs_working)))
        wait->looks++;
    else
        uccs_pause_slow(wait);
}

#endif
