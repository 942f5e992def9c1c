/* Groups of PEs that synchronise: a slot in the node's group area.
 *
 * Each slot has one row of NODE_GROUP_LINES cache lines for every PE of the node:
 *
 *   lines 0 .. 15    flags of the rounds of the dissemination barrier; each written by one partner
 *   lines 16, 17     of member 0: counter and release word of the counting barrier
 *   lines 18, 19     of the split-phase collectives (src/shmem/coll/nbe.c), written by the row's owner
 *   lines 20 .. 35   small posts (src/uccs/post.h), written by the row's owner, read by all
 *   lines 36 .. 295  large posts
 *   lines 296 .. 315 over several nodes: swaps, those of the split-phase collectives, broadcasts, parcels (nodes.h)
 *   lines 316 ..     over several nodes: what those bring
 *
 * Disjoint groups may hold the same slot, so nothing belongs to a slot as a whole.
 *
 * Invariants: epochs only grow, so a flag is "at least my epoch" and nothing is ever reset while
 * the group lives; a partner can be at most one barrier ahead, since it needs my flag of the next.
 * A slot is reused only when every member of the new group has let go of it, which each does after a
 * last dissemination (uccs_group_part); each clears its own row before the sync of the parent that
 * makes the new group (src/shmem/split.c).
 *
 * Over several nodes: a slot holds one row on each member's node. The members on one node are a group in the same rows
 * (nodes->near), and far ones are reached by messages that store into lines of a row; nodes.h says how. Posts are not
 * for such groups but for their near parts.
 *
 * A group without a slot (slot < 0) synchronises on a symmetric array of the program: active sets
 * beyond the number of slots. It cannot post.
 *
 * One thread at a time per group (the standard's rule for teams); any number of groups at once. */
#ifndef UCCS_GROUP_H
#define UCCS_GROUP_H

#include "rte/node.h"
#include "uccs/core/core.h"

#include <stdbool.h>

#define GROUP_ROUNDS 16 /* 2^16 = NODE_MAX_PES */
#define GROUP_ARRIVED 16
#define GROUP_RELEASED 17
#define GROUP_POSTED 18 /* split-phase collectives called, and my shares of them done (src/shmem/coll/nbe.c) */
#define GROUP_COPIED 19
#define GROUP_POSTS 20
#define GROUP_SWAP 296 /* of each node's lead, as are the next ones: a count, then flags in 4 lines */
#define GROUP_SPLIT 301
#define GROUP_RING 306
#define GROUP_CHUNKS 307 /* 8 lines */
#define GROUP_LANDED 315 /* of each member: parcels that have come for it */
#define GROUP_MAIL 316
#define GROUP_RING_DATA 1340
#define GROUP_FLAG_AT_REST (-1L) /* of a group without a slot */

struct uccs_nodes;

struct uccs_group {
    int slot;          /* or -1 */
    int rank;          /* mine */
    int size;          /* members */
    int start, stride; /* member r is PE uccs_core.first + start + r * stride; its node index where it is near */
    uint64_t epoch;    /* syncs done */
    uint64_t exchange; /* number of the last exchange of posts */
    uint64_t settled;  /* every member has finished every exchange up to this number */
    long *flags;       /* without a slot: my GROUP_ROUNDS flags, symmetric, at rest between calls */
    uint64_t posted;   /* split-phase collectives called */
    uint64_t copied;   /* and those of which my share is done; under the progress list's lock */
    uint32_t pending;  /* and those not complete; taken with release by who completes one */
    bool far;          /* some members are on other nodes; then also: */
    struct uccs_nodes *nodes;
};

/* How groups synchronise on this node; AUTO looks at the PEs and the cores. */
enum uccs_sync { UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT, UCCS_SYNC_FLAT };
extern enum uccs_sync uccs_sync_how; /* written by init alone, equal on all PEs */

/* The row of member `rank`. */
static inline char *uccs_group_row(const struct uccs_group *group, int rank)
{
    size_t index = (size_t)(group->start + rank * group->stride);
    size_t row = (size_t)group->slot * uccs_core.size + index;
    return uccs_core.groups + row * NODE_GROUP_LINES * CACHE_LINE;
}

/* The line `line` of member `rank`. */
static inline void *uccs_group_line(const struct uccs_group *group, int rank, int line)
{
    return uccs_group_row(group, rank) + (size_t)line * CACHE_LINE;
}

/* After rank, size, start and stride are set: finds out who is where, and makes `nodes` unless it is there. 0; -1: no
 * memory. */
int uccs_group_span(struct uccs_group *group);
void uccs_group_free(struct uccs_group *group);
/* All members' slot is this one. */
void uccs_group_settle_in(struct uccs_group *group, int slot);

static inline int uccs_group_pe(const struct uccs_group *group, int rank)
{
    return (int)uccs_core.first + group->start + rank * group->stride;
}

static inline bool uccs_group_is_near(const struct uccs_group *group, int rank)
{
    return (uint32_t)(group->start + rank * group->stride) < uccs_core.size;
}

/* An exchange over any group with a slot: everybody gives up to POST_LARGE bytes, and then looks at what the others
 * gave. Not for hot paths. */
void uccs_group_exchange(struct uccs_group *group, const void *mine, size_t bytes);
/* What `rank` gave in the last exchange. */
const void *uccs_group_given(const struct uccs_group *group, int rank, size_t bytes);

/* Everybody has arrived when anybody leaves; what a member stored before, all members see after
 * (release of the flag, acquire by the partner, transitively). */
void uccs_group_sync(struct uccs_group *group);

/* The same in the middle of an exchange: says nothing of the posts that are still to be read. */
void uccs_group_meet(struct uccs_group *group);

/* The last sync of a group: when it returns, no other member reads my row any more (each waits at
 * flags in its own row alone). */
void uccs_group_part(struct uccs_group *group);

/* Zeroes the words of my row that say which epoch it is. */
void uccs_group_clear(struct uccs_group *group);

#endif
