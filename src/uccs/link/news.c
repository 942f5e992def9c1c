/* News of a lane: something has come in, or a flush has ended. Threads sleep until there are some. See crowd.c. */
#include "uccs/link/news.h"

#include "base/futex.h"

_Thread_local const struct link_lane *link_led_here;
static uint32_t sleeping; /* threads of all lanes; relaxed: a hint */

bool link_is_crowd(void)
{
    return atomic_load_relaxed(&link_waiting) > link_cores;
}

bool link_is_crowd_awake(void)
{
    return atomic_load_relaxed(&link_waiting) > link_cores + atomic_load_relaxed(&sleeping);
}

/* Under the lock. Partner: link_news_await */
static void renew(struct link_lane *lane)
{
    atomic_store_seqcst(&lane->news, lane->news + 1);
}

void link_news_tell(struct link_lane *lane)
{
    renew(lane);
    atomic_store_relaxed(&lane->told, 1);
}

lat_cold void link_news_wake(struct link_lane *lane, int most)
{
    const uint32_t now = atomic_load_relaxed(&lane->sleepers);
    const int likely = now < (uint32_t)most ? (int)now : most;
    (void)atomic_fetch_add_relaxed(&lane->roused, likely); /* before they run: they may take this thread's core */
    const int woken = futex_wake_here(&lane->news, most);
    (void)atomic_fetch_add_relaxed(&lane->roused, woken - likely);
    (void)atomic_fetch_sub_seqcst(&lane->sleepers, (uint32_t)woken);
}

lat_cold void link_news_wake_one(struct link_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    renew(lane);
    pthread_mutex_unlock(&lane->lock);
    link_news_wake(lane, 1);
}

int link_news_await(struct link_lane *lane, uint32_t seen, long nanoseconds)
{
    int why = EAGAIN;
    (void)atomic_fetch_add_seqcst(&lane->sleepers, 1);
    (void)atomic_fetch_add_relaxed(&sleeping, 1);
    if (atomic_load_seqcst(&lane->led))
        why = futex_sleep_here(&lane->news, seen, nanoseconds);
    if (why == 0)
        (void)atomic_fetch_add_relaxed(&lane->roused, -1);
    else
        (void)atomic_fetch_sub_seqcst(&lane->sleepers, 1);
    (void)atomic_fetch_add_relaxed(&sleeping, UINT32_MAX);
    return why;
}
