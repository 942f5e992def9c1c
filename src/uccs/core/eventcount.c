#include "uccs/core/eventcount.h"

#include "base/futex.h"
#include "uccs/core/doorbell.h"

#include <sched.h>

/* Nanoseconds of a sleep at most. */
#define LONGEST 50000000
#define WITH_PROGRAM 1000000 /* the same while the program has functions in the registry */

_Thread_local const struct uccs_eventcount *uccs_eventcount_led_here;
uint32_t uccs_waiting, uccs_waiting_cores;
static uint32_t sleeping; /* threads of all eventcounts; relaxed: a hint */

void uccs_waiting_count(int change)
{
    (void)atomic_fetch_add_relaxed(&uccs_waiting, (uint32_t)change);
}

bool uccs_awake_exceed_cores(void)
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
