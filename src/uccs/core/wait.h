/* The only wait loop. A waiter spins briefly, then yields. On a node with more PEs than cores it yields at once, and
 * after long fruitless yielding it sleeps for short times, so that the PEs with work get the cores. A signal only makes
 * the loop look again.
 *
 * After one look, the waiter lets its earlier loads complete. Otherwise the processor would run later looks, and the
 * loads of the data behind them, ahead of time and fetch lines that the peer is still writing. Then it looks as often as it
 * can. On AMD's processors nothing is better, whether the peer is 25 or 260 ns away.
 *
 * On Intel's servers (uccs_core.stingy; measured on one of 2025, whose cores share no cache below the L3) a look that comes
 * just before the peer's store costs the peer a second journey of the line. So the spinning has three more parts there.
 * First, the waiter looks as often as it can for as long as a PE that shares a cache with it needs to answer (some tens of
 * nanoseconds). Second, while a PE further away may be writing a short answer (some 0.3 us), it looks every 50 ns. Third,
 * it looks as often as it can again: a long answer is the sooner here the earlier its first lines are asked for. Who adds
 * to a counter or a signal asks for its line, and for the data's, before it stores (lat_put_before); on AMD's processors
 * that made messages slower by up to a fifth.
 *
 * Any thread:
 *     struct uccs_wait wait uccs_scoped = {0};
 *     while (atomic_load_acquire(flag) != value)
 *         uccs_pause(&wait);
 */
#ifndef UCCS_CORE_WAIT_H
#define UCCS_CORE_WAIT_H

#include "rte/node.h"
#include "uccs/core/core.h"
#include "uccs/core/poller.h"

#include <stdbool.h>

/* Starts zeroed but for `on`, which says what the wait is for, to those who ask why the job hangs. */
struct uccs_wait {
    uint32_t looks;
    uint32_t stay;  /* the record of a wait that lasts (rte/stay.h); 0: none */
    uint64_t since; /* when the wait became slow; 0: it has not */
    struct node_awaited on;
};

/* Every struct uccs_wait is declared with this attribute, which ends its record with its scope. */
#define uccs_scoped __attribute__((cleanup(uccs_wait_end)))

void uccs_stay(struct uccs_wait *wait);
void uccs_stay_end(struct uccs_wait *wait);

static inline void uccs_wait_end(struct uccs_wait *wait)
{
    if (lat_unlikely(wait->stay))
        uccs_stay_end(wait);
}

/* Says that a wait is for a variable of this PE. */
static inline struct node_awaited uccs_await_variable(const void *object, int kind, const char *compare, uint64_t value)
{
    return (struct node_awaited){.about = NODE_ABOUT_VARIABLE,
                                 .kind = (uint8_t)kind,
                                 .compare = {compare[0], compare[1]},
                                 .object = (uintptr_t)object,
                                 .number = value};
}

/* What a wait is for, as it tells when it has lasted for a while. */
struct uccs_told {
    struct node_awaited on;
    uint64_t value;            /* of a variable, now */
    char text[NODE_STAY_TEXT]; /* names the object; empty: the call says enough */
};

enum { UCCS_ABOUT_TOLD = 255 }; /* in place of enum node_about: `number` is a function that fills in `on` of its own */

/* Says that `tell` knows what the wait is for. The waiting thread calls it once the wait lasts, and now and then
 * afterwards; `what` lives as long as the wait. It fills in a zeroed struct, without waiting. */
static inline struct node_awaited uccs_await_told(void (*tell)(const void *what, struct uccs_told *told),
                                                  const void *what)
{
    return (
        struct node_awaited){.about = UCCS_ABOUT_TOLD, .object = (uintptr_t)what, .number = (uint64_t)(uintptr_t)tell};
}

/* Says that a wait is for one other PE. */
static inline struct node_awaited uccs_await_pe(int pe)
{
    return (struct node_awaited){.about = NODE_ABOUT_PES, .start = pe, .stride = 1, .size = 1};
}

/* Pollers look for messages that other processes have sent to this one. A poller returns non-zero when it found
 * something, else 0, and must not wait. Upper folders add their pollers, so that every wait serves these folders
 * without knowing them. */
enum uccs_poller_when {
    UCCS_POLL_ALWAYS, /* called at every look of every wait, and in tests; counts as a piece of work that never ends */
    UCCS_POLL_IDLE    /* called in waits that have spun in vain, and in tests that found nothing */
};
enum { UCCS_POLLERS = 2 }; /* at most this many of each kind */

/* One thread adds a given poller. After uccs_core_poll_remove returns, a thread that was waiting may still be in the
 * poller. */
void uccs_core_poll_add(int (*poll)(void), enum uccs_poller_when when);
void uccs_core_poll_remove(int (*poll)(void));

/* Calls all pollers of a kind. Returns non-zero when one of them found something, else 0. Any thread. */
int uccs_poll(enum uccs_poller_when when);

/* A piece of work (a non-blocking collective). Threads that wait or test advance it. `advance` runs on one thread at a
 * time, under the list's lock, and must not wait. It returns true when the work is finished, and is not called again.
 * For long steps, such as copying, `advance` stores a function in `labour`: the same thread calls that function once,
 * without the lock, so that other work goes on meanwhile, and then calls `advance` again. */
struct uccs_request; /* object/request.h */
struct uccs_work {
    bool (*advance)(struct uccs_work *work);
    void (*labour)(struct uccs_work *work); /* null: no labour is due */
    bool again; /* `advance` sets it when no other process will tell that it can go on; then it is soon called again */
    bool busy;  /* a thread runs its labour; under the list's lock */
    /* Fills in what the work waits for. Returns false when the request does not count it. Under the list's lock; may be
     * null. */
    bool (*tell)(const struct uccs_work *work, const struct uccs_request *request, struct uccs_told *told);
    struct uccs_work *next;
};

extern uint32_t uccs_working; /* number of pieces of work and of UCCS_POLL_ALWAYS pollers; relaxed: a hint */
extern uint32_t uccs_endless; /* number of UCCS_POLL_ALWAYS pollers; relaxed: a hint */
static inline bool uccs_work_is_left(void)
{
    return atomic_load_relaxed(&uccs_working) > atomic_load_relaxed(&uccs_endless);
}

/* Adds a piece of work. With a progress thread, which sleeps until others post, it also advances the work once, but runs
 * no labour. The piece may be finished and gone on return. */
void uccs_work_add(struct uccs_work *work);

/* What a server of the progress thread (progress.h) has found. */
enum uccs_served {
    UCCS_SERVED_NOTHING, /* what comes next will ring the bell or shows at the descriptor */
    UCCS_SERVED_SOME,    /* look again at once */
    UCCS_SERVED_LATER    /* nothing at the moment, but look again within a millisecond, unasked */
};

/* The progress thread advances the work by uccs_work_serve. uccs_work_polls grows while threads of the program advance
 * it. */
enum uccs_served uccs_work_serve(void);
uint64_t uccs_work_polls(void);

/* Calls the pollers and advances the work. Returns non-zero when a poller found something, else 0. */
int uccs_work_slow(void);

/* Lets the first piece of work that the request counts fill in what it waits for. Returns false when there is none, or
 * another thread has the list. */
bool uccs_work_tell(const struct uccs_request *request, struct uccs_told *told);

/* Waits until no work is left. Other processes need this one's share also of work that nobody here has waited for. */
void uccs_work_finish(void);

/* Advances pending work. Any thread; leaves the work alone when another thread advances it. */
static inline void uccs_work_on(void)
{
    if (lat_unlikely(atomic_load_relaxed(&uccs_working) != 0))
        uccs_work_slow();
}

/* Learns how waiters look on this processor. */
void uccs_wait_open(void);

void uccs_pause_slow(struct uccs_wait *wait);
uint64_t uccs_yield_slow(struct uccs_wait *wait);

/* Counts a look, and once the waiter has spun long enough, calls the program's pollers and yields. Callers make progress
 * themselves at every look, and hold no lock that a poller could need. Returns for how many nanoseconds the core was given
 * away; 0: it was not, or that is not known. */
static inline uint64_t uccs_yield(struct uccs_wait *wait)
{
    if (lat_unlikely(wait->looks >= uccs_core.spin))
        return uccs_yield_slow(wait);
    wait->looks++;
    return 0;
}

/* Returns the position where this thread's search of a set for a finished member begins, which is behind the member
 * that it found last. The position is kept by the set's address, so that a program that waits for sets in turns starves
 * none of their members. */
static inline size_t *uccs_turn_of(const void *set)
{
    static _Thread_local size_t turns[16];
    return &turns[((uintptr_t)set >> 3) * 0x9E3779B97F4A7C15u >> 60];
}

/* Tests return to the caller instead of waiting. A loop of tests is a wait as well, so a test that found nothing does
 * the same as a wait: it advances work, calls the pollers, and yields where the node has more PEs than cores. Now and
 * then it yields on any node, since there may be more threads than cores. While there are pollers but no work, and
 * tests follow each other quickly, most tests omit their look. */
extern _Thread_local uint8_t uccs_misses; /* of this thread */
void uccs_missed_slow(bool yield);

extern _Thread_local uint32_t uccs_omitted; /* tests of this thread until the next one that looks */

static inline bool uccs_miss_has_work(void)
{
    return atomic_load_relaxed(&uccs_working) | atomic_load_relaxed(&uccs_idlers);
}

static inline bool uccs_miss_omits(void)
{
    if (!uccs_omitted || uccs_work_is_left())
        return false;
    uccs_omitted--;
    return true;
}

static inline void uccs_missed(void)
{
    bool yield = (++uccs_misses == 0) | (uccs_core.oversubscribed != 0);
    if (lat_unlikely(yield || (uccs_miss_has_work() && !uccs_miss_omits())))
        uccs_missed_slow(yield);
}

/* Fetches call this. They do not know whether the caller found the value it waits for, so they yield less often. */
static inline void uccs_fetched(void)
{
    bool yield = (++uccs_misses & (uccs_core.oversubscribed ? 63 : 255)) == 0;
    if (lat_unlikely(yield || (uccs_miss_has_work() && !uccs_miss_omits())))
        uccs_missed_slow(yield);
}

static inline void uccs_pause(struct uccs_wait *wait)
{
    if (lat_likely(wait->looks - 1 < uccs_core.quick_looks && wait->looks < uccs_core.spin &&
                   !atomic_load_relaxed(&uccs_working)))
        wait->looks++;
    else
        uccs_pause_slow(wait);
}

#endif
