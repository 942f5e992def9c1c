/* News of a lane, and who sleeps until there are some (news.c, crowd.h). Any thread, without a lock unless a comment says otherwise. */
#ifndef UCCS_LINK_NEWS_H
#define UCCS_LINK_NEWS_H

#include "uccs/link/inner.h"

#include <limits.h>

/* Under the lock: something has come in, or a flush has ended. Then the lock is released by `unlock`, which wakes the sleepers. */
void link_news_tell(struct link_lane *lane);
void link_news_wake(struct link_lane *lane, int most);
/* Wakes one sleeper, although nothing has come in, so that it leads. */
void link_news_wake_one(struct link_lane *lane);
/* Sleeps until there is other news than `seen`, unless nobody leads. Returns 0 when somebody has woken this thread, else an error of
 * futex_sleep_here. */
int link_news_await(struct link_lane *lane, uint32_t seen, long nanoseconds);
/* More threads wait than there are cores; of those that do not sleep. */
bool link_is_crowd(void);
bool link_is_crowd_awake(void);
/* The lane that this thread leads while it looks; it wakes the sleepers afterwards. */
extern _Thread_local const struct link_lane *link_led_here;
static inline void link_news_unlock(struct link_lane *lane)
{
    const bool wakes = atomic_load_relaxed(&lane->told) && link_led_here != lane;
    if (wakes)
        atomic_store_relaxed(&lane->told, 0);
    pthread_mutex_unlock(&lane->lock);
    if (wakes && lat_unlikely(atomic_load_seqcst(&lane->sleepers)))
        link_news_wake(lane, INT_MAX);
}

#endif
