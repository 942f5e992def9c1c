#include "uccs/core/wait.h"

#include "base/clock.h"
#include "base/futex.h"
#include "uccs/core/doorbell.h"

#include <poll.h>
#include <sched.h>
#include <time.h>

/* Nanoseconds of a sleep at most. */
#define LONGEST 50000000
#define WITH_PROGRAM 1000000 /* of a sleep at most while the program has functions in the registry */

_Thread_local const struct uccs_eventcount *uccs_eventcount_led_here;
uint32_t uccs_waiting, uccs_waiting_cores;
static uint32_t sleeping; /* threads of all eventcounts; relaxed: a hint */

void uccs_waiting_count(int change)
{
    (void)atomic_fetch_add_relaxed(&uccs_waiting, (uint32_t)change);
}

/* Returns true when more threads wait awake than there are cores. */
static bool uccs_awake_exceed_cores(void)
{
    return atomic_load_relaxed(&uccs_waiting) > uccs_waiting_cores + atomic_load_relaxed(&sleeping);
}

/* --- Telling */

/* Under the lock. Partner: sleep_on_count. */
static void grow_count(struct uccs_eventcount *events)
{
    atomic_store_seqcst(&events->count, events->count + 1);
}

void uccs_eventcount_tell(struct uccs_eventcount *events)
{
    grow_count(events);
    atomic_store_relaxed(&events->told, 1);
}

lat_cold void uccs_eventcount_wake(struct uccs_eventcount *events, int most)
{
    const uint32_t now = atomic_load_relaxed(&events->sleepers);
    const int likely = now < (uint32_t)most ? (int)now : most;
    (void)atomic_fetch_add_relaxed(&events->roused, likely); /* before they run: they may take this thread's core */
    const int woken = futex_wake_here(&events->count, most);
    (void)atomic_fetch_add_relaxed(&events->roused, woken - likely);
    (void)atomic_fetch_sub_seqcst(&events->sleepers, (uint32_t)woken);
}

/* Wakes one sleeper, although nothing has come in, so that it leads. */
lat_cold static void wake_successor(const struct uccs_follower *me)
{
    pthread_mutex_lock(me->lock);
    grow_count(me->events);
    pthread_mutex_unlock(me->lock);
    uccs_eventcount_wake(me->events, 1);
}

/* --- Following */

void uccs_follower_begin(struct uccs_follower *me, struct uccs_eventcount *events, pthread_mutex_t *lock)
{
    *me = (struct uccs_follower){.events = events, .lock = lock, .seen = atomic_load_acquire(&events->count)};
    uccs_waiting_count(1);
}

/* Sleeps until the count is another than `seen`, unless nobody leads. Returns 0 when another thread has woken this one, else an
 * error of futex_sleep_here. Who wakes a sleeper also takes it from `sleepers`. */
static int sleep_on_count(struct uccs_eventcount *events, uint32_t seen, long nanoseconds)
{
    int why = EAGAIN;
    (void)atomic_fetch_add_seqcst(&events->sleepers, 1);
    (void)atomic_fetch_add_relaxed(&sleeping, 1);
    if (atomic_load_seqcst(&events->led)) /* partner: uccs_follower_end */
        why = futex_sleep_here(&events->count, seen, nanoseconds);
    if (why == 0)
        (void)atomic_fetch_add_relaxed(&events->roused, -1);
    else
        (void)atomic_fetch_sub_seqcst(&events->sleepers, 1);
    (void)atomic_fetch_add_relaxed(&sleeping, UINT32_MAX);
    return why;
}

static void follow_leader(const struct uccs_follower *me, struct uccs_wait *wait)
{
    const long most = atomic_load_relaxed(&uccs_progress_program) ? WITH_PROGRAM : LONGEST;
    if (sleep_on_count(me->events, me->seen, most) == ETIMEDOUT && !uccs_progress_poll_program())
        uccs_wait_record(wait);
}

/* The leader has looked. It wakes the others only after it has looked at its own variable, so that they do not find it leading when
 * it goes. */
static void wake_followers(const struct uccs_follower *me)
{
    if (!atomic_load_relaxed(&me->events->told))
        return;
    uccs_eventcount_led_here = 0;
    pthread_mutex_lock(me->lock);
    uccs_eventcount_unlock(me->events, me->lock);
}

static void lead_once(const struct uccs_follower *me)
{
    wake_followers(me);
    uccs_eventcount_led_here = me->events;
    if (atomic_load_relaxed(&me->events->roused) > 0)
        sched_yield();
}

lat_cold bool uccs_follower_may_look_slow(struct uccs_follower *me, struct uccs_wait *wait)
{
    struct uccs_eventcount *events = me->events;
    const uint32_t count = atomic_load_acquire(&events->count); /* seqcst: grow_count */
    if (uccs_progress_thread_me || (uccs_eventcount_led_here && !me->leads))
        return true; /* others depend on what this thread serves */
    if (me->leads) {
        lead_once(me);
        return true;
    }
    if (count != me->seen)
        me->seen = count;
    else if (!atomic_load_relaxed(&events->led) && !atomic_exchange_seqcst(&events->led, 1))
        me->leads = true;
    else
        follow_leader(me, wait);
    return false;
}

void uccs_follower_end(struct uccs_follower *me)
{
    uccs_waiting_count(-1);
    if (lat_unlikely(me->leads)) {
        atomic_store_seqcst(&me->events->led, 0); /* partner: sleep_on_count */
        wake_followers(me);
        uccs_eventcount_led_here = 0;
    }
    if (lat_unlikely(atomic_load_seqcst(&me->events->sleepers)) && !atomic_load_seqcst(&me->events->led))
        wake_successor(me);
}

#define YIELDS_BEFORE_SLEEP 500 /* some milliseconds on a crowded node */
#define YIELDS_A_CLOCK 8        /* after this many yields a waiter looks at the clock */
#define SLEEPS_ALIKE 8          /* a waiter's sleeps of one length, before it doubles it */
#define LOOKS_ALONE 32          /* looks of a waiter alone on its core until it yields again */

/* Nanoseconds. */
#define NOBODY 700   /* a yield that takes less has found nobody who wants the core */
#define SLOW 200000  /* a yield that takes longer has given the core to somebody who works */
#define NAP 50000    /* the first sleeps of a waiter that a store of another process may end, which wakes nobody */
#define SLEEP 100000 /* the first sleeps on descriptors */
#define BESIDE 20000 /* the first sleeps while other threads serve all descriptors */

/* Of this thread, about sleeps on descriptors. */
enum { FEWEST = 16, MOST = 4096 };
static _Thread_local struct {
    uint32_t left;  /* sleeps until it yields again */
    uint32_t next;  /* sleeps after the next slow yield: more when slow yields follow each other */
    uint32_t slept; /* sleeps in this wait */
} sleeps;

/* --- Yielding */

/* A yield costs more than a look at a network, and a message that comes meanwhile waits for its end. So a waiter whose yield
 * has found nobody looks some times before the next one: a thread that comes to want the core waits some microseconds
 * longer. */
uint64_t uccs_yield_core(bool cheap_looks)
{
    static _Thread_local uint32_t alone;
    if (cheap_looks) {
        sched_yield();
        return 0;
    }
    if (alone) {
        alone--;
        return 0;
    }
    const uint64_t start = clock_nanoseconds();
    sched_yield();
    const uint64_t took = clock_nanoseconds() - start;
    alone = took < NOBODY ? LOOKS_ALONE : 0;
    return took;
}

/* A core serves some hundred thousand short sleeps a second: of a thousand waiters that sleep for 100 us each it does nothing else, and
 * the PE for which they wait has a hundredth of it. So the longest sleep grows with the number of PEs on a core. */
uint32_t uccs_wait_naps(uint32_t pes_per_core)
{
    uint32_t naps = 0;
    for (; pes_per_core >= 4; pes_per_core /= 2)
        naps++;
    return naps;
}

uccs_arm_function *uccs_wait_arm;

/* Sleeps until a descriptor of the set wakes this thread; for `alone` nanoseconds at first where there is none. `before`: sleeps
 * of this wait before. */
static void sleep_on_files(uccs_arm_function *arm, uint64_t set, long shortest, long alone, uint32_t before)
{
    struct pollfd files[UCCS_REST_FILES];
    const uint32_t doubled = before / SLEEPS_ALIKE;
    const int count = arm ? arm(set, files) : 0;
    const struct timespec time = {.tv_nsec = (count ? shortest : alone)
                                             << (doubled < uccs_core.naps ? doubled : uccs_core.naps)};
    if (count >= 0)
        (void)ppoll(files, (nfds_t)count, &time, 0);
}

/* Messages wake a waiter that naps, too: the peer that waits for an answer may keep it from the end of its own wait. Returns the
 * same as uccs_yield_core. */
static uint64_t yield_or_nap(struct uccs_wait *wait)
{
    const uint32_t yields = ++wait->looks - uccs_core.spin;
    if (lat_unlikely(yields % YIELDS_A_CLOCK == 0))
        uccs_wait_record(wait);
    if (!uccs_core.oversubscribed || yields < YIELDS_BEFORE_SLEEP)
        return uccs_yield_core(!atomic_load_relaxed(&uccs_progress_sources)); /* without sources a look is a load */
    if (wait->looks == UINT32_MAX)
        wait->looks--;
    const uint64_t start = clock_nanoseconds();
    sleep_on_files(uccs_wait_arm, 1, NAP, NAP, yields - YIELDS_BEFORE_SLEEP);
    return clock_nanoseconds() - start;
}

/* --- Sleeping on descriptors */

/* Decides by the yield whether this thread sleeps from now on. */
static void yield_and_judge(struct uccs_wait *wait)
{
    const bool first = wait->looks == uccs_core.spin;
    if (lat_unlikely(yield_or_nap(wait) > SLOW)) {
        sleeps.left = sleeps.next > FEWEST ? sleeps.next : FEWEST;
        sleeps.next = 4 * sleeps.left < MOST ? 4 * sleeps.left : MOST;
        sleeps.slept = 0;
    } else if (first) {
        sleeps.next -= sleeps.next / 4;
    }
}

static void sleep_in_place(struct uccs_wait *wait, uccs_arm_function *arm, uint64_t set)
{
    if (wait->looks == uccs_core.spin) {
        wait->looks++;
        sleeps.slept = 0;
    }
    sleeps.left--;
    sleep_on_files(arm, set, SLEEP, BESIDE, sleeps.slept++);
    if (sleeps.left % YIELDS_A_CLOCK == 0)
        uccs_wait_record(wait);
}

/* --- The policy */

/* After the spin. */
lat_cold static void give_way(struct uccs_wait *wait, uccs_arm_function *arm, uint64_t set)
{
    const bool may_sleep = arm && !uccs_awake_exceed_cores();
    if (uccs_progress_poll_program())
        return;
    if (!may_sleep)
        (void)yield_or_nap(wait);
    else if (sleeps.left)
        sleep_in_place(wait, arm, set);
    else
        yield_and_judge(wait);
}

void uccs_rest_on(struct uccs_wait *wait, uccs_arm_function *arm, uint64_t set)
{
    if (lat_unlikely(uccs_awake_exceed_cores()) && wait->looks < uccs_core.spin)
        wait->looks = uccs_core.spin;
    if (lat_likely(wait->looks < uccs_core.spin))
        wait->looks++;
    else
        give_way(wait, arm, set);
}

void uccs_rest(struct uccs_wait *wait)
{
    uccs_rest_on(wait, 0, 0);
}

/* The waiter comes here at the first look, when something is due, and when it has spun. */
lat_cold void uccs_pause_slow(struct uccs_wait *wait)
{
    if (wait->looks < uccs_core.spin && !atomic_load_relaxed(&uccs_progress_due)) {
        atomic_settle();
        wait->looks++;
        return;
    }
    int found = uccs_progress_look();
    found |= uccs_progress_poll(UCCS_PROGRESS_IDLE);
    if (!found)
        uccs_rest(wait);
}

void uccs_wait_tasks_finished(void)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (uccs_progress_has_tasks())
        uccs_pause(&wait);
}

/* --- Tests */

/* A look costs as much as many tests that only load their variable. Tests that come every QUICK nanoseconds or faster
 * leave SKIPPED looks in a row out, so a message that comes in then waits a few microseconds longer at most. */
#define SKIPPED 40
#define QUICK 300

_Thread_local uint8_t uccs_progress_misses;
_Thread_local uint32_t uccs_progress_omitted;
static _Thread_local struct {
    uint32_t skipped; /* tests between the last two looks */
    uint64_t looked;  /* time of the last look in nanoseconds */
} tests;

static void plan_next_look(int found)
{
    const uint64_t time = clock_nanoseconds();
    bool quick = time - tests.looked < (uint64_t)QUICK * (tests.skipped + 1);
    tests.looked = time;
    uccs_progress_omitted = tests.skipped = quick && !found ? SKIPPED : 0;
}

/* Returns non-zero when a source found something. */
static int look_after_test(void)
{
    bool tasks = uccs_progress_has_tasks();
    int found = uccs_progress_look();
    found |= uccs_progress_poll(UCCS_PROGRESS_IDLE);
    found |= uccs_progress_poll_program();
    if (!tasks)
        plan_next_look(found);
    return found;
}

lat_cold void uccs_missed_slow(bool yield)
{
    int found = look_after_test();
    if (yield && !found)
        (void)uccs_yield_core(!atomic_load_relaxed(&uccs_progress_sources));
}
