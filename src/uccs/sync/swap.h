/* Teams over several nodes: how their nodes meet and swap small data.
 *
 * The members on one node are a team of their own, `near`, with all that teams on one node have. Its member 0 is the
 * node's lead: messages for the node go to its process, and land in its row, where all near members
 * see them. So a message needs one process to be running, and no member has to pass on what it brought.
 *
 * A swap: each node gives a block of the same size and gets those of all. Near members write their data into the
 * first place of the lead's box and meet. Then in round r each node sends the 2^r blocks it has to the one 2^r
 * before it (Bruck), so ceil(log2(nodes)) rounds bring all, and with no data it is a barrier. Place i of the box holds
 * the block of the i-th node behind mine.
 *
 *   uccs_swap_begin(&swap, team, block);
 *   ... write to the box ...
 *   uccs_swap_run(&swap);
 *   ... read the box ...
 *
 * Invariants: swaps are numbered. Flags hold the number of the last swap, and boxes and flags of odd and even ones
 * are separate: a member in swap n knows that all have left n - 2, since it has left n - 1, in which all arrived after
 * they had left n - 2. So nothing is reset, no flag is overtaken, and near members may read boxes until the swap after
 * the next.
 *
 * Split-phase meetings have flags of their own (channel 1) and run under the progress list's lock, beside the one
 * thread that may use the team. */

#ifndef UCCS_SYNC_SWAP_H
#define UCCS_SYNC_SWAP_H

#include "uccs/far/far.h"
#include "uccs/sync/row.h"

enum {
    NODES_BOX = 32 << 10, /* bytes of all nodes' blocks */
    NODES_RING = 8,       /* places for broadcasts */
    NODES_RING_BYTES = 4096,
    NODES_CHUNKS = 64, /* of a long broadcast */
};

struct uccs_nodes {
    struct uccs_team near;    /* the members on my node: their own counts, in the same rows */
    int first;                /* rank of the lowest of them */
    int count, mine;          /* nodes; which is mine */
    int widest, narrowest;    /* most and fewest members on one */
    uint64_t swaps[2];        /* begun, by channel */
    uint64_t posted, settled; /* broadcasts through the ring; those that all have finished */
    uint64_t landed;          /* parcels counted in my line TEAM_LANDED */
    char *given;              /* the last uccs_team_exchange: of all members */
    struct uccs_lead {
        int rank; /* of the node's first member; the last entry's is the team's size */
        int slot; /* of the team there: sets have different ones */
    } leads[];
};

static inline int uccs_nodes_members(const struct uccs_nodes *nodes, int node)
{
    return nodes->leads[node + 1].rank - nodes->leads[node].rank;
}

/* The node `distance` behind mine, around the circle. */
static inline int uccs_nodes_around(const struct uccs_nodes *nodes, int distance)
{
    int node = nodes->mine + distance;
    return node >= nodes->count ? node - nodes->count : node;
}

int uccs_nodes_of(const struct uccs_nodes *nodes, int rank);
int uccs_nodes_lead_pe(const struct uccs_team *team, int node);

/* A line of a member's row on any node, for parcels. */
struct uccs_far_place uccs_nodes_line(const struct uccs_team *team, int node, int line);

struct uccs_swap {
    struct uccs_team *team;
    uint64_t number;
    size_t block; /* bytes of one node; at most NODES_BOX / nodes */
    uint32_t held;
    int channel, round;
    bool arrived;
};

void uccs_swap_begin(struct uccs_swap *swap, struct uccs_team *team, size_t block);
/* The block of the i-th node behind mine; 0: mine. */
char *uccs_swap_box(const struct uccs_swap *swap, int distance);
void uccs_swap_run(struct uccs_swap *swap);

/* The block of a node, in a swap that is over. */
static inline const char *uccs_swap_block(const struct uccs_swap *swap, int node)
{
    const struct uccs_nodes *nodes = swap->team->nodes;
    return uccs_swap_box(swap, node >= nodes->mine ? node - nodes->mine : node - nodes->mine + nodes->count);
}

_Static_assert(TEAM_MAIL + 2 * NODES_BOX / CACHE_LINE == TEAM_RING_DATA &&
                   TEAM_RING_DATA + NODES_RING * NODES_RING_BYTES / CACHE_LINE <= NODE_GROUP_LINES &&
                   NODES_CHUNKS * sizeof(uint64_t) <= (TEAM_LANDED - TEAM_CHUNKS) * CACHE_LINE,
               "a row holds it all");

/* A swap without data: all arrive before any leaves. */
void uccs_nodes_sync(struct uccs_team *team);

/* A split-phase meeting: begin once, then look; returns true when all have come. Never waits. */
void uccs_nodes_meet_begin(struct uccs_swap *swap, struct uccs_team *team);
bool uccs_nodes_meet(struct uccs_swap *swap);

/* Every member gets `bytes` of every member, at rank * bytes of `all`. */
void uccs_nodes_gather(struct uccs_team *team, void *all, const void *mine, size_t bytes);
/* Brings at most NODES_RING_BYTES of member root to all, by a tree of nodes. It waits for no reader: the ring's rare
 * sync does. */
void uccs_nodes_cast(struct uccs_team *team, void *dest, const void *source, size_t bytes, int root);

/* Waits until the sources of parcels may be reused. */
void uccs_nodes_settle(const uint32_t *held);

/* A line of the lead of my node. */
static inline void *uccs_lead_line(const struct uccs_nodes *nodes, int line)
{
    return uccs_team_line(&nodes->near, 0, line);
}

static inline struct uccs_far_place uccs_place_plus(struct uccs_far_place place, uint64_t bytes)
{
    place.offset += bytes;
    return place;
}

/* The last meeting of a team over several nodes. */
void uccs_nodes_part(struct uccs_team *team);

#endif
