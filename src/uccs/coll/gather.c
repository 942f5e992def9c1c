/* Small data of blocking collectives over nodes: the members of a node put their data into their lead's buffer, the leads
 * gather all nodes' buffers (uccs/team/nodes.h), then every member reads what all nodes have brought. A gather is one message per node and round, whatever the collective. */
#include "uccs/coll/inner.h"

#include "base/copy.h"

static void gather_units(const struct uccs_coll *c, size_t unit, size_t n,
                         void (*give)(const void *, char *, size_t, size_t),
                         void (*take)(const void *, const char *, int, size_t, size_t))
{
    uccs_nodes_gather(&(struct uccs_gather){c->memory.team, unit, n, c, give, take});
}

static bool allgather_nodes(struct uccs_coll *c)
{
    uccs_nodes_allgather(c->memory.team, c->dest, c->source, c->bytes);
    return true;
}

uccs_coll_step *const uccs_gather_allgather[] = {allgather_nodes, 0};

/* --- Blocks: a unit is an element of each block that a member gives */

/* A block is n elements, `to` and `from` bytes apart in dest and source; the buffers hold them side by side. */
struct part {
    size_t element, n;
    ptrdiff_t to, from;
};

static struct part part_of(const struct uccs_coll *c)
{
    const struct proto_blocks *blocks = &c->memory.blocks;
    if (blocks->count > 1)
        return (struct part){blocks->block, blocks->count, blocks->here, blocks->there};
    return (struct part){.element = 1, .n = blocks->block, .to = 1, .from = 1};
}

static void copy_part(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, size_t n, size_t element)
{
    if (to_step == (ptrdiff_t)element && from_step == to_step)
        memcpy(to, from, n * element);
    else
        copy_blocks(to, to_step, from, from_step, element, n);
}

static void give_blocks(const void *coll, char *to, size_t at, size_t n)
{
    const struct uccs_coll *c = coll;
    const struct part part = part_of(c);
    for (int rank = 0; rank < c->size; rank++)
        copy_part(to + (size_t)rank * n * part.element, (ptrdiff_t)part.element,
                  c->source + rank * c->memory.source_step + (ptrdiff_t)at * part.from, part.from, n, part.element);
}

static void take_block(const void *coll, const char *from, int rank, size_t at, size_t n)
{
    const struct uccs_coll *c = coll;
    const struct part part = part_of(c);
    copy_part(c->dest + rank * c->memory.dest_step + (ptrdiff_t)at * part.to, part.to,
              from + (size_t)c->rank * n * part.element, (ptrdiff_t)part.element, n, part.element);
}

static bool exchange_blocks(struct uccs_coll *c)
{
    const struct part part = part_of(c);
    gather_units(c, part.element * (size_t)c->size, part.n, give_blocks, take_block);
    return true;
}

uccs_coll_step *const uccs_gather_alltoall[] = {exchange_blocks, 0};
