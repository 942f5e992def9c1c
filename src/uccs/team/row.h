/* A team and its memory, and meetings of whole nodes. Every file of this folder uses them. */
#ifndef UCCS_TEAM_ROW_H
#define UCCS_TEAM_ROW_H

#include "rte/node.h"
#include "uccs/core/core.h"
#include "uccs/proto/initiator.h"

#include <stdbool.h>

/* Teams, whose members are PEs a stride apart, and their rows of memory.
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

/* Teams over several nodes: their nodes meet and gather small data.
 *
 * The members on one node form a team of their own, `near`, which can do all that a team on one node can. Its member 0
 * is the node's lead. Messages for the node go to the lead's process and land in its row, where all near members see
 * them. So a message needs only one process to be running, and no member has to pass its data on.
 *
 * In an allgather each node gives a block of the same size and gets the blocks of all nodes. Near members write their data
 * into the first place of the lead's buffer and meet. Then in round r each node sends the 2^r blocks it has to the node
 * 2^r before it (Bruck), so ceil(log2(nodes)) rounds bring all blocks. An allgather without data is a barrier. Place i of the
 * buffer holds the block of the i-th node behind this one.
 *
 *   uccs_node_allgather_begin(&gather, team, block, 0);
 *   ... write to the buffer ...
 *   uccs_node_allgather_run(&gather);
 *   ... read the buffer ...
 *
 * Members have places: node by node, and by rank on a node. Where neighbours share nodes, places are ranks. On scattered
 * nodes tables lead from one to the other (uccs_nodes_rank, uccs_nodes_place). Blocks of members lie in the order of places.
 *
 * Invariants: allgathers are numbered. Flags hold the number of the last allgather, and buffers and flags of odd and even ones
 * are separate. All members arrive in allgather n - 1 after they have left n - 2, so a member that has left n - 1 and is in
 * allgather n knows that all have left n - 2. So nothing is reset, no flag is overtaken, and near members may read buffers
 * until the allgather after the next.
 *
 * Split-phase meetings have flags of their own (channel 1) and run under the lock of the list of tasks, beside the one
 * thread that may use the team. */

enum {
    NODES_GATHER_BYTES = 128 << 10, /* bytes of all nodes' blocks */
    NODES_RING = 64,                /* flags for pieces of broadcasts */
    NODES_RING_BYTES = 4096,        /* of a piece that lies in the ring's room, at most */
    NODES_RING_ROOM = 32 << 10,     /* bytes of all */
};

struct uccs_nodes {
    struct uccs_team near;    /* the members on this node; has its own counts, in the same rows */
    int first;                /* the lowest place among them */
    int *order, *places;      /* the rank of each place, and the place of each rank; null: they are equal */
    int count, mine;          /* number of nodes; index of this node */
    int widest, narrowest;    /* most and fewest members on a node */
    uint64_t allgathers[2];   /* allgathers begun, by channel */
    uint64_t posted, settled; /* pieces of broadcasts; those that all members have finished (coll/bcast.c) */
    size_t filled;            /* bytes of the ring's room that the others of them have taken */
    uint64_t landed[2];       /* puts counted in this PE's line TEAM_LANDED, those of split-phase collectives apart */
    struct uccs_lead {
        int place; /* of the node's first member; the last entry's is the team's size */
        int area;  /* of the team on that node; active sets have different slots on different nodes */
    } leads[];
};

static inline int uccs_nodes_members(const struct uccs_nodes *nodes, int node)
{
    return nodes->leads[node + 1].place - nodes->leads[node].place;
}

static inline int uccs_nodes_rank(const struct uccs_nodes *nodes, int place)
{
    return nodes->order ? nodes->order[place] : place;
}

static inline int uccs_nodes_place(const struct uccs_nodes *nodes, int rank)
{
    return nodes->places ? nodes->places[rank] : rank;
}

/* Returns the node `distance` behind this one, around the circle. */
static inline int uccs_nodes_around(const struct uccs_nodes *nodes, int distance)
{
    int node = nodes->mine + distance;
    return node >= nodes->count ? node - nodes->count : node;
}

/* Returns the node of a rank. */
int uccs_nodes_of(const struct uccs_nodes *nodes, int rank);
int uccs_nodes_lead_pe(const struct uccs_team *team, int node);

/* Returns the place, for internal puts, of a line in the row of a node's lead. */
struct proto_address uccs_nodes_line(const struct uccs_team *team, int node, int line);

struct uccs_node_allgather {
    struct uccs_team *team;
    uint64_t number;
    size_t block; /* bytes of one node; at most NODES_GATHER_BYTES / nodes */
    uint32_t held;
    int channel, round;
    bool arrived;
};

/* Channel 0; 1 for split-phase meetings. */
void uccs_node_allgather_begin(struct uccs_node_allgather *gather, struct uccs_team *team, size_t block, int channel);
/* Returns the block of the node `distance` behind this one; distance 0 is this node. */
char *uccs_node_allgather_buffer(const struct uccs_node_allgather *gather, int distance);

/* The parts of a run, for those whose messages are others (coll/reduce.c). arrive returns true at the member that sends the first
 * message, when the members on this node have arrived; the lead sends the others. send brings bytes to place `at` of the node's buffer,
 * and a flag for the round. has returns true when the members on this node have arrived, and that flag here. depart returns when what
 * this member has sent has left. Whoever departs knows that all members of all nodes have arrived. */
bool uccs_node_arrive(struct uccs_node_allgather *gather);
void uccs_node_send(struct uccs_node_allgather *gather, int node, int round, size_t at, const void *from, size_t bytes);
bool uccs_node_has(struct uccs_node_allgather *gather, int round);
void uccs_node_depart(struct uccs_node_allgather *gather);

_Static_assert(TEAM_GATHER_DATA + 2 * NODES_GATHER_BYTES / CACHE_LINE == TEAM_RING_DATA &&
                   TEAM_RING_DATA + NODES_RING_ROOM / CACHE_LINE <= NODE_GROUP_LINES &&
                   NODES_RING * sizeof(uint64_t) <= (TEAM_LANDED - TEAM_RING) * CACHE_LINE,
               "a row holds it all");

/* Runs an allgather without data: no member leaves before all have arrived. */
void uccs_nodes_sync(struct uccs_team *team);

/* A split-phase meeting. The caller begins it once, then calls uccs_nodes_meet until that returns true: all have
 * arrived. Neither call waits. */
void uccs_nodes_meet_begin(struct uccs_node_allgather *gather, struct uccs_team *team);
bool uccs_nodes_meet(struct uccs_node_allgather *gather);

/* Data of all members for all: n units of `unit` bytes of each. give writes some of mine, from unit `at` on, take gets the same ones of a
 * member. Units come in their order, and members in that of their ranks; but where not one unit of all members fits into the nodes'
 * buffers, all units of some members come before those of others. */
struct uccs_gather {
    struct uccs_team *team;
    size_t unit, n;
    const void *what;
    void (*give)(const void *what, char *to, size_t at, size_t n);
    void (*take)(const void *what, const char *from, int rank, size_t at, size_t n);
};
void uccs_nodes_gather(const struct uccs_gather *all);

/* Gives every member `bytes` of every member. The bytes of member r lie at all + r * bytes. */
void uccs_nodes_allgather(struct uccs_team *team, void *all, const void *mine, size_t bytes);

/* Sends bytes of mine to a PE of another node, and changes a word there behind them. *held is one higher until
 * they have left this process; the source is in use meanwhile. */
static inline void uccs_nodes_put(int pe, struct proto_address at, const void *source, size_t bytes,
                                  const struct proto_notify *with, uint32_t *held)
{
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_INTERNAL_PUT,
                                              .pe = pe,
                                              .at = at,
                                              .source = source,
                                              .bytes = bytes,
                                              .with = with,
                                              .held = held});
}

/* Returns a line in the row of this node's lead. */
static inline void *uccs_lead_line(const struct uccs_nodes *nodes, int line)
{
    return uccs_team_line(&nodes->near, 0, line);
}

static inline struct proto_address uccs_place_plus(struct proto_address place, uint64_t bytes)
{
    place.offset += bytes;
    return place;
}

#endif
