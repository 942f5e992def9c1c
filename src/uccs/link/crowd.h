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

#include "uccs/link/news.h"

struct link_member {
    struct link_lane *lane;
    uint32_t seen; /* of the lane's news */
    bool leads;
};

void link_member_begin(struct link_member *member, struct link_lane *lane);
void link_member_end(struct link_member *member);
void link_member_follow(struct link_member *member, struct uccs_wait *wait);

static inline void link_member_pause(struct link_member *member, struct uccs_wait *wait)
{
    if (lat_likely(!member->leads && !link_is_crowd()))
        link_pause(member->lane, wait);
    else
        link_member_follow(member, wait);
}

#endif
