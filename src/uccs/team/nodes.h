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

#ifndef UCCS_TEAM_NODES_H
#define UCCS_TEAM_NODES_H

#include "uccs/proto/initiator.h"
#include "uccs/team/row.h"

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
void uccs_node_allgather_run(struct uccs_node_allgather *gather);

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

/* Sends bytes of mine to a PE of another node, and changes a word there behind them. *held is one higher while the source is in
 * use. */
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
