/* Collectives over several nodes on long data (nodes.h).
 *
 * All come first (an allgather without data), so that everybody's dest may be written. Then data crosses to each other node once, as internal puts
 * straight into their place at one member there; which one depends on the sender, so that all members of a node have a
 * share of the traffic. They count in the receiver's line TEAM_LANDED. What has come to a near member is copied from
 * it after a sync of the node, and a second one lets the memory go.
 *
 * Rules and threads: inner.h. */
#include "uccs/coll/inner.h"

/* --- Puts that are counted ------------------------------------------------------------------------------------ */

/* The member of `node` that takes what near member `index` of another node sends there. */
static int taker_of(const struct uccs_nodes *nodes, int node, int index)
{
    return uccs_nodes_rank(nodes, nodes->leads[node].place + index % uccs_nodes_members(nodes, node));
}

/* Sends bytes to the same address `dest` of a member, and counts them there. */
static void send_counted(struct uccs_coll *c, int node, int rank, void *dest, const void *from, size_t bytes)
{
    const struct uccs_team *team = c->memory.team;
    int pe = uccs_team_pe(team, rank);
    const struct proto_notify landed = {.what = PROTO_SIGNAL_ADD,
                                        .place = uccs_nodes_line(team, node, TEAM_LANDED),
                                        .value = 1};
    uccs_nodes_put(pe, uccs_coll_place(c->call, "dest", dest, pe), from, bytes, &landed, &c->memory.held);
}

/* All internal puts for this PE have come; the step that sends has added their number to nodes->landed. */
static bool have_landed(struct uccs_coll *c)
{
    const struct uccs_team *team = c->memory.team;
    const uint64_t *line = uccs_team_line(team, team->rank, TEAM_LANDED);
    return atomic_load_acquire(line) >= team->nodes->landed; /* acqrel: the put's signal */
}

/* --- Collect and fcollect ---------------------------------------------------------------------------------------- */

static size_t start_of(const struct uccs_coll *c, int rank)
{
    return c->memory.starts ? c->memory.starts[rank] : (size_t)rank * c->bytes;
}

static size_t length_of(const struct uccs_coll *c, int rank)
{
    return start_of(c, rank + 1) - start_of(c, rank);
}

/* Returns the near member that a block comes to, or whose it is. */
static int holder_of(const struct uccs_nodes *nodes, int rank)
{
    const int node = uccs_nodes_of(nodes, rank), index = uccs_nodes_place(nodes, rank) - nodes->leads[node].place;
    return node == nodes->mine ? index : index % nodes->near.size;
}

/* Returns the number of blocks that come from other nodes to me. */
static uint64_t count_mine(const struct uccs_coll *c)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    uint64_t count = 0;
    for (int rank = 0; rank < c->size; rank++)
        count += rank != c->rank && holder_of(nodes, rank) == nodes->near.rank && length_of(c, rank) != 0;
    return count;
}

static bool send_block(struct uccs_coll *c)
{
    struct uccs_nodes *nodes = c->memory.team->nodes;
    size_t bytes = length_of(c, c->rank);
    char *to = c->dest + start_of(c, c->rank);
    for (int i = 1; bytes && i < nodes->count; i++) {
        int node = uccs_nodes_around(nodes, i);
        send_counted(c, node, taker_of(nodes, node, nodes->near.rank), to, c->source, bytes);
    }
    if (bytes && to != c->source)
        memcpy(to, c->source, bytes);
    nodes->landed += count_mine(c);
    return true;
}

/* Copies the blocks that other near members hold. */
static bool copy_near(struct uccs_coll *c)
{
    const struct uccs_team *team = c->memory.team, *near = &team->nodes->near;
    for (int i = 1; i < c->size; i++) {
        const int rank = uccs_coll_around(team, c->rank, i), holder = holder_of(team->nodes, rank);
        const size_t at = start_of(c, rank);
        if (holder != near->rank)
            memcpy(c->dest + at, (char *)uccs_coll_peer(c->call, "dest", near, c->dest, holder) + at,
                   length_of(c, rank));
    }
    return true;
}

uccs_coll_step *const uccs_rail_allgather[] = {uccs_coll_come,      send_block, have_landed,
                                               uccs_coll_meet_near, copy_near,  uccs_coll_meet_near,
                                               uccs_coll_settled,   0};

/* --- Alltoall ---------------------------------------------------------------------------------------------------- */

/* Each member begins with the one behind it, so that not all send to the same. */
static bool send_blocks(struct uccs_coll *c)
{
    struct uccs_team *team = c->memory.team;
    struct uccs_nodes *nodes = team->nodes;
    char *dest = c->dest + (size_t)c->rank * c->bytes;
    for (int i = 1; i < c->size; i++) {
        int rank = uccs_coll_around(team, c->rank, i), node = uccs_nodes_of(nodes, rank);
        if (node != nodes->mine)
            send_counted(c, node, rank, dest, c->source + (size_t)rank * c->bytes, c->bytes);
    }
    nodes->landed += (uint64_t)(c->size - nodes->near.size);
    return true;
}

static bool pull_near(struct uccs_coll *c)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    const struct uccs_team *near = &nodes->near;
    for (int i = 0; i < near->size; i++) {
        int index = uccs_coll_around(near, near->rank, i);
        const char *from = uccs_coll_peer(c->call, "source", near, c->source + (size_t)c->rank * c->bytes, index);
        memcpy(c->dest + (size_t)uccs_nodes_rank(nodes, nodes->first + index) * c->bytes, from, c->bytes);
    }
    return true;
}

uccs_coll_step *const uccs_rail_alltoall[] = {uccs_coll_come,      send_blocks,       pull_near, have_landed,
                                              uccs_coll_meet_near, uccs_coll_settled, 0};
