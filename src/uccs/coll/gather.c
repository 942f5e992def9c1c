/* Small data of blocking collectives over nodes: the members of a node put their data into their lead's buffer, the leads
 * gather all nodes' buffers (uccs/team/nodes.h), then every member reads what all nodes have brought, and folds by itself in
 * reductions. A gather is one message per node and round, whatever the collective. */
#include "uccs/coll/inner.h"

#include "base/copy.h"

#include <string.h>

void uccs_gather_broadcast(const struct uccs_coll *c)
{
    for (size_t at = 0; at < c->bytes; at += NODES_RING_BYTES) {
        size_t piece = c->bytes - at < NODES_RING_BYTES ? c->bytes - at : NODES_RING_BYTES;
        uccs_node_bcast(c->memory.team, c->dest + at, c->source + at, piece, c->root);
    }
    if (c->rank == c->root && c->memory.at_root && c->dest != c->source)
        memcpy(c->dest, c->source, c->bytes);
}

/* Returns what a member has put into its node's buffer, in a gather that is over; each has put `bytes`. */
static const char *given_by(const struct uccs_node_allgather *gather, int rank, size_t bytes)
{
    const struct uccs_nodes *nodes = gather->team->nodes;
    int node = uccs_nodes_of(nodes, rank), index = uccs_nodes_place(nodes, rank) - nodes->leads[node].place;
    return uccs_node_allgather_block(gather, node) + (size_t)index * bytes;
}

/* Begins a gather of `bytes` of each member. Returns where mine go. */
static char *begin(struct uccs_node_allgather *gather, const struct uccs_coll *c, size_t bytes)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    uccs_node_allgather_begin(gather, c->memory.team, (size_t)nodes->widest * bytes);
    return uccs_node_allgather_buffer(gather, 0) + (size_t)nodes->near.rank * bytes;
}

/* Bytes of each member that fit at once, in whole elements; 0: there are too many members. */
static size_t most_of(const struct uccs_coll *c, size_t element)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    return NODES_GATHER_BYTES / ((size_t)nodes->count * (size_t)nodes->widest) / element * element;
}

/* A block is n elements, `to` and `from` bytes apart in dest and source; the buffers hold them side by side. */
struct part {
    size_t element, n;
    ptrdiff_t to, from;
};

static void copy_part(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, size_t n, size_t element)
{
    if (to_step == (ptrdiff_t)element && from_step == to_step)
        memcpy(to, from, n * element);
    else
        copy_blocks(to, to_step, from, from_step, element, n);
}

/* Moves n elements of each block, from element `at` on. Each gives its part of all blocks, and takes its own out of the
 * others'. */
static void exchange_part(const struct uccs_coll *c, const struct part *part, size_t at, size_t n)
{
    const size_t size = (size_t)c->size, piece = n * part->element;
    const ptrdiff_t step = (ptrdiff_t)part->element, begun = (ptrdiff_t)at;
    struct uccs_node_allgather gather;
    char *mine = begin(&gather, c, size * piece);
    for (int rank = 0; rank < c->size; rank++)
        copy_part(mine + (size_t)rank * piece, step, c->source + rank * c->memory.source_step + begun * part->from,
                  part->from, n, part->element);
    uccs_node_allgather_run(&gather);
    for (int rank = 0; rank < c->size; rank++)
        copy_part(c->dest + rank * c->memory.dest_step + begun * part->to, part->to,
                  given_by(&gather, rank, size * piece) + (size_t)c->rank * piece, step, n, part->element);
}

void uccs_gather_alltoall(const struct uccs_coll *c)
{
    const struct proto_blocks *blocks = &c->memory.blocks;
    struct part part = {.element = 1, .n = blocks->block, .to = 1, .from = 1};
    if (blocks->count > 1)
        part = (struct part){blocks->block, blocks->count, blocks->here, blocks->there};
    const size_t most = most_of(c, part.element * (size_t)c->size) / (part.element * (size_t)c->size);
    for (size_t at = 0, n; at < part.n; at += n) {
        n = part.n - at < most ? part.n - at : most;
        exchange_part(c, &part, at, n);
    }
}

bool uccs_gather_folds(const struct uccs_coll *c)
{
    return most_of(c, c->element) != 0;
}

/* Folds the pieces of members 0 .. last. */
static void fold_first(const struct uccs_coll *c, const struct uccs_node_allgather *gather, char *dest, size_t piece,
                       int last)
{
    if (last < 0)
        memset(dest, 0, piece);
    else
        memcpy(dest, given_by(gather, 0, piece), piece);
    for (int rank = 1; rank <= last; rank++)
        c->fold(dest, dest, given_by(gather, rank, piece), piece / c->element);
}

void uccs_gather_fold(const struct uccs_coll *c, int last)
{
    const size_t most = most_of(c, c->element);
    for (size_t at = 0, piece; at < c->bytes; at += piece) {
        struct uccs_node_allgather gather;
        piece = c->bytes - at < most ? c->bytes - at : most;
        memcpy(begin(&gather, c, piece), c->source + at, piece);
        uccs_node_allgather_run(&gather);
        fold_first(c, &gather, c->dest + at, piece, last);
    }
}
