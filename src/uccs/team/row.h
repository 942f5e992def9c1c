/* Teams, whose members are PEs a stride apart, and their rows of memory. Every file of this folder uses them.
 *
 * A team has an area of the node's memory; each area has one row of NODE_GROUP_LINES cache lines for every PE:
 *
 *   lines 0 .. 15    flags of the rounds of the dissemination barrier; each written by one partner
 *   lines 16, 17     of member 0: counter and release word of the counting barrier; the release word has a neighbour, the
 *                    word of brief split-phase collectives
 *   lines 18, 19     of the split-phase collectives (src/uccs/coll/memory.c), written by the row's owner
 *   lines 20 .. 35   small slots (slots.h), written by the row's owner, read by all
 *   lines 36 .. 295  large slots
 *   lines 296 .. 319 over several nodes: allgathers, those of the split-phase collectives, broadcasts, internal puts
 *   lines 320 ..     over several nodes: the data that those bring
 *
 * Disjoint teams may hold the same area, so nothing belongs to an area as a whole.
 *
 * Invariants: epochs only grow, so a flag means "at least my epoch", and nothing is reset while the team lives. A
 * partner can be at most one barrier ahead, since it needs my flag of the next one. An area is reused only after every
 * member of the earlier team has left it by a last dissemination (uccs_team_part). Each member clears its own row
 * before the sync of the parent that makes the new team (src/shmem/team.c).
 *
 * An active set that finds no area free is a team without an area (area < 0). It meets on a symmetric array of the
 * program and has no slots.
 *
 * One thread at a time per team (the standard's rule for teams); any number of teams at once. */
#ifndef UCCS_TEAM_ROW_H
#define UCCS_TEAM_ROW_H

#include "rte/node.h"
#include "uccs/core/core.h"

#include <stdbool.h>

#define TEAM_ROUNDS 16 /* 2^16 = NODE_MAX_PES */
#define TEAM_ARRIVED 16
#define TEAM_RELEASED 17
#define TEAM_POSTED 18 /* split-phase collectives called, and my shares of them done (src/uccs/coll/memory.c) */
#define TEAM_COPIED 19
#define TEAM_BRIEF 17 /* of member 0, the second word of the line; written by any member */
#define TEAM_SLOTS 20
#define TEAM_GATHER 296 /* in the row of each node's lead, as are the next ones; a count, then flags in 4 lines */
#define TEAM_SPLIT 301
#define TEAM_RING 306   /* 8 lines */
#define TEAM_LANDED 314 /* in each row: puts that have come for the member, those of split-phase collectives apart */
#define TEAM_ROOMS 315  /* 5 lines, in each member's row: where partners have rooms (coll/reduce.c) */
#define TEAM_GATHER_DATA 320
#define TEAM_RING_DATA 4416
#define TEAM_FLAG_AT_REST (-1L) /* the value of an unused flag of a team without an area */

/* Sizes and places of slots. */
enum {
    SLOT_SMALL = 56,
    SLOT_LARGE = 4096,
    SLOT_SMALL_RING = 16,
    SLOT_LARGE_RING = 4,
    SLOT_FIRST_LINE = TEAM_SLOTS,
    SLOT_LARGE_LINES = 1 + SLOT_LARGE / CACHE_LINE
};

/* The data comes first so that it is aligned for every type. */
struct uccs_slot {
    cache_aligned char data[SLOT_SMALL];
    uint64_t number; /* release by the owner, acquire by the readers */
};
_Static_assert(sizeof(struct uccs_slot) == CACHE_LINE, "one line");
_Static_assert(SLOT_FIRST_LINE + SLOT_SMALL_RING + SLOT_LARGE_RING * SLOT_LARGE_LINES <= TEAM_GATHER,
               "a row holds its slots");

struct uccs_nodes;

struct uccs_team {
    int area;          /* -1: the team has none */
    int rank;          /* of the calling PE */
    int size;          /* members */
    int start, stride; /* member r is PE uccs_core.first + start + r * stride; without the first its index, if near and
                          the node is not scattered */
    int *pes;          /* the PEs of members that have no such stride, by rank; else null. On a scattered node alone */
    uint64_t epoch;    /* syncs done */
    uint64_t exchange; /* number of the last exchange by slots */
    uint64_t settled;  /* every member has finished every exchange up to this number */
    long *flags;       /* of a team without an area: this PE's TEAM_ROUNDS flags, symmetric, at rest between calls */
    uint64_t posted;   /* split-phase collectives called */
    uint64_t brief;    /* those of them that copy, and that one member does for all */
    uint64_t copied;   /* split-phase collectives whose local share is done; under the progress list's lock */
    uint32_t pending;  /* split-phase collectives not complete; release by the thread that completes one, acquire */
    bool far;          /* some members are on other nodes; `nodes` is then set */
    struct uccs_nodes *nodes;
};

static inline int uccs_team_pe(const struct uccs_team *team, int rank)
{
    if (lat_unlikely(team->pes))
        return team->pes[rank];
    return (int)uccs_core.first + team->start + rank * team->stride;
}

/* Returns the row of member `rank`, who is on this node. */
static inline char *uccs_team_row(const struct uccs_team *team, int rank)
{
    size_t index = (size_t)(team->start + rank * team->stride);
    if (lat_unlikely(uccs_core.index_of))
        index = uccs_index_in_table(uccs_team_pe(team, rank));
    size_t row = (size_t)team->area * uccs_core.pes + index;
    return uccs_core.groups + row * NODE_GROUP_LINES * CACHE_LINE;
}

/* Returns line `line` of member `rank`. */
static inline void *uccs_team_line(const struct uccs_team *team, int rank, int line)
{
    return uccs_team_row(team, rank) + (size_t)line * CACHE_LINE;
}

/* Says that a wait is for the other members to come to a meeting or an exchange of the team. */
static inline struct node_wait_reason uccs_reason_team(const struct uccs_team *team, uint64_t number)
{
    return (struct node_wait_reason){.about = team->pes ? NODE_REASON_NOTHING : NODE_REASON_PES,
                                     .start = uccs_team_pe(team, 0),
                                     .stride = team->stride,
                                     .size = team->size,
                                     .object = (uint64_t)(int64_t)team->area,
                                     .number = number};
}

#endif
