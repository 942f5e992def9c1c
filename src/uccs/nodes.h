/* Groups over several nodes: how their nodes meet and swap small data.
 *
 * The members on one node are a group of their own, `near`, with all that groups on one node have. Its member 0 is the
 * node's lead: messages for the node go to its process, and land in its row (lines in group.h), where all near members
 * see them. So a message needs one process to be running, and nobody has to pass on what it brought.
 *
 * A swap: each node gives a block of the same size and gets those of all. Near members lay what they have into the
 * first place of the lead's box; who comes last sends the first message itself. Then in round r each node sends the 2^r
 * blocks it has to the one 2^r before it (Bruck), so ceil(log2(nodes)) rounds bring all, and with no data it is a
 * barrier. Place i of the box is of the i-th node behind mine.
 *
 *   uccs_swap_begin(&swap, group, block);
 *   ... write to the box ...
 *   uccs_swap_run(&swap);
 *   ... read the box ...
 *
 * Invariants: swaps are numbered. Flags hold the number of the last swap, and boxes and flags of odd and even ones
 * are separate: who is in swap n knows that all have left n - 2, since it has left n - 1, in which all arrived after
 * they had left n - 2. So nothing is reset, no flag is overtaken, and near members may read boxes until the swap after
 * the next.
 *
 * One thread at a time per group, but split-phase meetings have flags of their own (channel 1) and run under the
 * progress list's lock. */
#ifndef UCCS_NODES_H
#define UCCS_NODES_H

#include "uccs/far.h"
#include "uccs/group.h"

enum {
    NODES_BOX = 32 << 10, /* bytes of all nodes' blocks */
    NODES_RING = 8,       /* places for broadcasts */
    NODES_RING_BYTES = 4096,
    NODES_CHUNKS = 64, /* of a long broadcast */
};

struct uccs_nodes {
    struct uccs_group near;   /* the members on my node: their own counts, in the same rows */
    int first;                /* rank of the lowest of them */
    int count, mine;          /* nodes; which is mine */
    int widest, narrowest;    /* most and fewest members on one */
    uint64_t swaps[2];        /* begun, by channel */
    uint64_t posted, settled; /* broadcasts through the ring; those that all have finished */
    uint64_t landed;          /* parcels counted in my line GROUP_LANDED */
    char *given;              /* the last uccs_group_exchange: of all members */
    struct uccs_lead {
        int rank; /* of the node's first member; the last entry's is the group's size */
        int slot; /* of the group there: sets have different ones */
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
int uccs_nodes_lead_pe(const struct uccs_group *group, int node);

/* A line of a member's row on any node, for parcels. */
struct uccs_far_place uccs_nodes_line(const struct uccs_group *group, int node, int line);

struct uccs_swap {
    struct uccs_group *group;
    uint64_t number;
    size_t block; /* bytes of one node; at most NODES_BOX / nodes */
    uint32_t held;
    int channel, round;
    bool arrived;
};

void uccs_swap_begin(struct uccs_swap *swap, struct uccs_group *group, size_t block);
/* The block of the i-th node behind mine; 0: mine. */
char *uccs_swap_box(const struct uccs_swap *swap, int distance);
void uccs_swap_run(struct uccs_swap *swap);

/* The block of a node, in a swap that is over. */
static inline const char *uccs_swap_block(const struct uccs_swap *swap, int node)
{
    const struct uccs_nodes *nodes = swap->group->nodes;
    return uccs_swap_box(swap, node >= nodes->mine ? node - nodes->mine : node - nodes->mine + nodes->count);
}

_Static_assert(GROUP_MAIL + 2 * NODES_BOX / CACHE_LINE == GROUP_RING_DATA &&
                   GROUP_RING_DATA + NODES_RING * NODES_RING_BYTES / CACHE_LINE <= NODE_GROUP_LINES &&
                   NODES_CHUNKS * sizeof(uint64_t) <= (GROUP_LANDED - GROUP_CHUNKS) * CACHE_LINE,
               "a row holds it all");

/* Swaps without data: all arrive before any leaves. */
void uccs_nodes_sync(struct uccs_group *group);
void uccs_nodes_part(struct uccs_group *group);

/* A split-phase meeting: begin once, then look; true when all have come. Never waits. */
void uccs_nodes_meet_begin(struct uccs_swap *swap, struct uccs_group *group);
bool uccs_nodes_meet(struct uccs_swap *swap);

/* Everybody gets `bytes` of everybody, at rank * bytes of `all`. */
void uccs_nodes_gather(struct uccs_group *group, void *all, const void *mine, size_t bytes);
/* At most NODES_RING_BYTES of member root, by a tree of nodes. Nobody waits for readers: the ring's rare sync does. */
void uccs_nodes_cast(struct uccs_group *group, void *dest, const void *source, size_t bytes, int root);

/* What I have sent may be reused. */
void uccs_nodes_settle(const uint32_t *held);

#endif
