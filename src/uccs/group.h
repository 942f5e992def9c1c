/* Groups of PEs that synchronise: a slot in the node's group area.
 *
 * Each slot has one row of NODE_GROUP_LINES cache lines for every PE of the node and one shared
 * row. In a PE's row, line r < GROUP_ROUNDS is the flag of round r of the dissemination barrier; only one
 * partner writes it. The rows' other lines belong to the collectives (src/shmem/coll).
 *
 * Invariants: epochs only grow, so a flag is "at least my epoch" and nothing is ever reset while
 * the group lives; a partner can be at most one barrier ahead, since it needs my flag of the next.
 * A slot is reused only when every member of the parent has let go of it, and each clears its own row
 * before the sync of the parent that makes the new group (src/shmem/team.c).
 *
 * One thread at a time per group (the standard's rule for teams). */
#ifndef UCCS_GROUP_H
#define UCCS_GROUP_H

#include "rte/node.h"
#include "uccs/core.h"

#define GROUP_ROUNDS 16 /* 2^16 = NODE_MAX_PES */
#define GROUP_POSTED 32 /* split-phase collectives called, and my shares of them done (src/shmem/coll/nbe.c) */
#define GROUP_COPIED 33
_Static_assert(GROUP_COPIED < NODE_GROUP_LINES, "a row has room");

struct uccs_group {
    int slot;
    int rank;         /* mine */
    int size;         /* members */
    int start, stride; /* member r is node index start + r * stride */
    uint64_t epoch;   /* syncs done */
    uint64_t posted;  /* split-phase collectives called */
    uint64_t copied;  /* and those of which my share is done; under the progress list's lock */
};

/* The line `line` of member `rank`. */
static inline void *uccs_group_line(const struct uccs_group *group, int rank, int line)
{
    size_t index = (size_t)(group->start + rank * group->stride);
    size_t row = (size_t)group->slot * ((size_t)uccs_core.size + 1) + index;
    return uccs_core.groups + (row * NODE_GROUP_LINES + (size_t)line) * CACHE_LINE;
}

/* The line `line` that all members share. */
static inline void *uccs_group_shared(const struct uccs_group *group, int line)
{
    size_t row = (size_t)group->slot * ((size_t)uccs_core.size + 1) + uccs_core.size;
    return uccs_core.groups + (row * NODE_GROUP_LINES + (size_t)line) * CACHE_LINE;
}

/* Everybody has arrived when anybody leaves; what a member stored before, all members see after
 * (release of the flag, acquire by the partner, transitively). */
void uccs_group_sync(struct uccs_group *group);

#endif
