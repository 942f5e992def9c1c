/* The crowd of threads that wait on a lane (crowd.c). Any thread, without a lock unless a comment says otherwise. A thread that waits
 * on one lane is a member of its crowd:
 *     struct link_member member;
 *     link_member_begin(&member, lane);
 *     while (the variable is not yet right)
 *         link_member_pause(&member, &wait);
 *     link_member_end(&member);
 * The variable changes under the lane's lock, before link_news_tell. */
#ifndef UCCS_LINK_CROWD_H
#define UCCS_LINK_CROWD_H

#include "uccs/link/inner.h"

#include <limits.h>

struct link_member {
    struct link_lane *lane;
    uint32_t seen; /* of the lane's news */
    bool leads;
};

void link_member_begin(struct link_member *member, struct link_lane *lane);
void link_member_end(struct link_member *member);
void link_member_follow(struct link_member *member, struct uccs_wait *wait);

/* news.c */
/* Under the lock: something has come in, or a flush has ended. Then the lock is released by `unlock`, which wakes the sleepers. */
void link_news_tell(struct link_lane *lane);
void link_news_wake(struct link_lane *lane, int most);
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
static inline void link_member_pause(struct link_member *member, struct uccs_wait *wait)
{
    if (lat_likely(!member->leads && !link_is_crowd()))
        link_pause(member->lane, wait);
    else
        link_member_follow(member, wait);
}

#endif
