/* Inside the collectives: the operations on a group, whether it comes from a team or an active set,
 * and what they share.
 *
 * One thread at a time per group. `call` is the public name, for messages. Every operation keeps two
 * rules: nobody reads a member's source, nor writes its dest, before that member has called; and when a
 * member returns, nobody reads its source any more and its dest is whole. Operations through posts
 * (uccs/team/team.h) keep them by copying; the others by lat_coll_enter and _leave:
 *
 *   lat_coll_enter            my source and dest are ready
 *   lat_coll_await(rank)      so are those of member `rank`; now its memory may be used
 *   lat_coll_leave            everybody is done with everybody's memory
 *
 * A group without a area cannot post: then enter is a sync and await nothing, and lat_coll_has_slots is
 * false. Groups over several nodes go their own ways (nodes.h). */
#ifndef SHMEM_COLL_INNER_H
#define SHMEM_COLL_INNER_H

#include "base/kind.h"
#include "shmem/bytes.h"
#include "shmem/coll/select.h"
#include "shmem/place.h"
#include "uccs/core/memory.h"
#include "uccs/team/slots.h"

#include <string.h>

/* Sizes as in coll.h. */
void lat_group_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                         int root, bool at_root);
void lat_group_collect(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes);
void lat_group_fcollect(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes);
void lat_group_alltoall(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes);
void lat_group_alltoalls(const char *call, struct uccs_team *group, void *dest, const void *source, ptrdiff_t dst,
                         ptrdiff_t sst, size_t nelems, size_t size);
void lat_group_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,
                      enum kind kind, enum fold_op op);
void lat_group_scan(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n, enum kind kind,
                    bool inclusive);

static inline bool lat_coll_has_slots(const struct uccs_team *group)
{
    return group->area >= 0;
}

/* The member `distance` behind me, around the circle: so that members begin at different ones. */
static inline int lat_coll_around(const struct uccs_team *group, int distance)
{
    int rank = group->rank + distance;
    return rank >= group->size ? rank - group->size : rank;
}

/* Member `rank`'s address of my symmetric `addr`; `argument` is dest or source, for messages. */
static inline void *lat_coll_peer(const char *call, const char *argument, const struct uccs_team *group,
                                  const void *addr, int rank)
{
    int pe = uccs_team_pe(group, rank);
    void *near = uccs_near(addr, pe);
    return lat_likely(near != 0) ? near : lat_resolve(call, argument, addr, pe);
}

static inline void lat_coll_enter(struct uccs_team *group)
{
    if (!lat_coll_has_slots(group)) {
        uccs_team_sync(group);
        return;
    }
    uccs_slot_begin(group, 0);
    uccs_slot_publish(group, 0);
}

static inline void lat_coll_await(const struct uccs_team *group, int rank)
{
    if (lat_coll_has_slots(group))
        uccs_slot_await(group, rank, 0);
}

static inline void lat_coll_leave(struct uccs_team *group)
{
    uccs_team_sync(group);
}

/* Records that all members have read all posts of the current exchange once all members come here. */
static inline void lat_coll_settle(struct uccs_team *group)
{
    group->settled = group->exchange - 1;
}

/* One element is one load and one store. */
static inline void lat_coll_copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

#endif
