/* Small data of blocking collectives over nodes: the members of a node put their data into their lead's buffer, the leads
 * gather all nodes' buffers (uccs/team/nodes.h), then every member reads what all nodes have brought. A gather is one message per node and round, whatever the collective. */
#include "uccs/coll/inner.h"

#include "base/copy.h"

static bool allgather_nodes(struct uccs_coll *c)
{
    uccs_nodes_allgather(c->memory.team, c->dest, c->source, c->bytes);
    return true;
}

uccs_coll_step *const uccs_gather_allgather[] = {allgather_nodes, 0};

/* --- Blocks: a unit is an element of each block that a member gives */

/* A block is elements a step apart in source (there) and dest (here); the buffers hold them side by side. */
static struct proto_blocks elements_of(const struct uccs_coll *c)
{
    const struct proto_blocks *blocks = &c->memory.blocks;
    return blocks->count > 1 ? *blocks
                             : (struct proto_blocks){.block = 1, .count = blocks->block, .there = 1, .here = 1};
}

static void give_blocks(const void *coll, char *to, size_t at, size_t n)
{
    const struct uccs_coll *c = coll;
    const struct proto_blocks each = elements_of(c);
    for (int rank = 0; rank < c->size; rank++)
        copy_blocks(to + (size_t)rank * n * each.block, (ptrdiff_t)each.block,
                    c->source + rank * c->memory.source_step + (ptrdiff_t)at * each.there, each.there, each.block, n);
}

static void take_block(const void *coll, const char *from, int rank, size_t at, size_t n)
{
    const struct uccs_coll *c = coll;
    const struct proto_blocks each = elements_of(c);
    copy_blocks(c->dest + rank * c->memory.dest_step + (ptrdiff_t)at * each.here, each.here,
                from + (size_t)c->rank * n * each.block, (ptrdiff_t)each.block, each.block, n);
}

static bool exchange_blocks(struct uccs_coll *c)
{
    const struct proto_blocks each = elements_of(c);
    uccs_nodes_gather(
        &(struct uccs_gather){c->memory.team, each.block * (size_t)c->size, each.count, c, give_blocks, take_block});
    return true;
}

uccs_coll_step *const uccs_gather_alltoall[] = {exchange_blocks, 0};
