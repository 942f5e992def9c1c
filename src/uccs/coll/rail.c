/* Collectives over several nodes on long data (row.h).
 *
 * All come first (an allgather without data), so that everybody's dest may be written. Then data crosses to each other node once, as puts
 * straight into their place at one member there; which one depends on the sender, so that all members of a node have a
 * share of the traffic. They count in the receiver's line TEAM_LANDED. What has come to a near member is copied from
 * it after a sync of the node, and a second one lets the memory go. Split-phase ones of a team go one after the other, and what
 * takes long goes without the list's lock.
 *
 * Rules and threads: inner.h. */
#include "uccs/coll/inner.h"

/* --- Puts that are counted ------------------------------------------------------------------------------------ */

/* The member of `node` that takes what near member `index` of another node sends there. */
static int taker_of(const struct uccs_nodes *nodes, int node, int index)
{
    return uccs_nodes_rank(nodes, nodes->leads[node].place + index % uccs_nodes_members(nodes, node));
}

/* Sends blocks to the same address `dest` of a member, and counts them there. Blocks with strides are packed into one message, which
 * the member unpacks. */
static void send_counted(struct uccs_coll *c, int node, int rank, void *dest, const void *from,
                         const struct proto_blocks *blocks)
{
    const struct uccs_team *team = c->memory.team;
    const int pe = uccs_team_pe(team, rank);
    const struct proto_address at = uccs_coll_place(c->call, "dest", dest, pe),
                               line = uccs_nodes_line(team, node, TEAM_LANDED);
    const struct proto_blocks back = {blocks->block, blocks->count, blocks->here, blocks->there};
    const struct proto_notify landed = {.what = PROTO_SIGNAL_ADD,
                                        .place = uccs_place_plus(line, c->memory.later * sizeof(uint64_t)),
                                        .value = 1};
    if (blocks->count == 1)
        uccs_nodes_put(pe, at, from, blocks->block, &landed, &c->memory.held);
    else
        (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_PUT,
                                                  .nonblocking = true,
                                                  .pe = pe,
                                                  .at = at,
                                                  .source = from,
                                                  .blocks = &back,
                                                  .with = &landed});
}

/* All puts for this PE have come; the step that sends has added their number to nodes->landed. */
static bool have_landed(struct uccs_coll *c)
{
    const struct uccs_team *team = c->memory.team;
    const uint64_t *line = uccs_team_line(team, team->rank, TEAM_LANDED);
    return atomic_load_acquire(&line[c->memory.later]) >=
           team->nodes->landed[c->memory.later]; /* acqrel: the put's signal */
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

static void send_block_part(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    struct uccs_nodes *nodes = c->memory.team->nodes;
    const struct proto_blocks block = {.block = length_of(c, c->rank), .count = 1};
    char *to = c->dest + start_of(c, c->rank);
    for (int i = 1; block.block && i < nodes->count; i++) {
        int node = uccs_nodes_around(nodes, i);
        send_counted(c, node, taker_of(nodes, node, nodes->near.rank), to, c->source, &block);
    }
    if (block.block && to != c->source)
        memcpy(to, c->source, block.block);
    nodes->landed[c->memory.later] += count_mine(c);
    c->step++;
}

static bool send_block(struct uccs_coll *c)
{
    return uccs_coll_run_part(c, send_block_part);
}

/* Copies the blocks that other near members hold. */
static void copy_near_part(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    const struct uccs_team *team = c->memory.team, *near = &team->nodes->near;
    for (int i = 1; i < c->size; i++) {
        const int rank = uccs_coll_around(team, c->rank, i), holder = holder_of(team->nodes, rank);
        const size_t at = start_of(c, rank);
        if (holder != near->rank)
            memcpy(c->dest + at, (char *)uccs_coll_peer(c->call, "dest", near, c->dest, holder) + at,
                   length_of(c, rank));
    }
    c->step++;
}

static bool copy_near(struct uccs_coll *c)
{
    return uccs_coll_run_part(c, copy_near_part);
}

uccs_coll_step *const uccs_rail_allgather[] = {uccs_coll_await_turn, uccs_coll_come,
                                               send_block,           have_landed,
                                               uccs_coll_meet_near,  copy_near,
                                               uccs_coll_meet_near,  uccs_coll_settled,
                                               uccs_coll_pass_turn,  0};

/* --- Alltoall ---------------------------------------------------------------------------------------------------- */

/* Sends to the members of other nodes, then copies from those of mine. Each member begins with the one behind it, so that not all send to
 * the same. */
static void exchange_part(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    const struct uccs_by_memory *m = &c->memory;
    struct uccs_nodes *nodes = m->team->nodes;
    for (int i = 1; i < c->size; i++) {
        const int rank = uccs_coll_around(m->team, c->rank, i), node = uccs_nodes_of(nodes, rank);
        if (node != nodes->mine)
            send_counted(c, node, rank, c->dest + c->rank * m->dest_step, c->source + rank * m->source_step,
                         &m->blocks);
    }
    nodes->landed[m->later] += (uint64_t)(c->size - nodes->near.size);
    for (int i = 0; i < nodes->near.size; i++) {
        const int index = uccs_coll_around(&nodes->near, nodes->near.rank, i);
        const char *from = uccs_coll_peer(c->call, "source", &nodes->near, c->source + c->rank * m->source_step, index);
        uccs_coll_copy_blocks(c->dest + uccs_nodes_rank(nodes, nodes->first + index) * m->dest_step, from, &m->blocks);
    }
    c->step++;
}

static bool exchange_blocks(struct uccs_coll *c)
{
    return uccs_coll_run_part(c, exchange_part);
}

uccs_coll_step *const uccs_rail_alltoall[] = {uccs_coll_await_turn, uccs_coll_come,    exchange_blocks,     have_landed,
                                              uccs_coll_meet_near,  uccs_coll_settled, uccs_coll_pass_turn, 0};
