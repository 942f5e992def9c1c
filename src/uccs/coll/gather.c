/* Small data of blocking collectives over nodes: the members of a node put their data into their lead's buffer, the leads
 * gather all nodes' buffers (uccs/team/nodes.h), then every member reads what all nodes have brought, and folds by itself in
 * reductions. A gather is one message per node and round, whatever the collective. */
#include "uccs/coll/inner.h"

#include "base/copy.h"

#include <string.h>

static bool broadcast_pieces(struct uccs_coll *c)
{
    for (size_t at = 0; at < c->bytes; at += NODES_RING_BYTES) {
        size_t piece = c->bytes - at < NODES_RING_BYTES ? c->bytes - at : NODES_RING_BYTES;
        uccs_node_bcast(c->memory.team, c->dest + at, c->source + at, piece, c->root);
    }
    if (c->rank == c->root && c->memory.at_root && c->dest != c->source)
        memcpy(c->dest, c->source, c->bytes);
    return true;
}

uccs_coll_step *const uccs_gather_broadcast[] = {broadcast_pieces, 0};

static bool allgather_nodes(struct uccs_coll *c)
{
    uccs_nodes_allgather(c->memory.team, c->dest, c->source, c->bytes);
    return true;
}

uccs_coll_step *const uccs_gather_allgather[] = {allgather_nodes, 0};

/* Returns what a member has put into its node's buffer, in a gather that is over; each has put `bytes`. */
static const char *given_by(const struct uccs_coll *c, int rank, size_t bytes)
{
    const struct uccs_node_allgather *gather = &c->memory.meeting;
    const struct uccs_nodes *nodes = gather->team->nodes;
    int node = uccs_nodes_of(nodes, rank), index = uccs_nodes_place(nodes, rank) - nodes->leads[node].place;
    return uccs_node_allgather_block(gather, node) + (size_t)index * bytes;
}

/* Begins a gather of `bytes` of each member. Returns where mine go. */
static char *begin_gather(struct uccs_coll *c, size_t bytes)
{
    struct uccs_node_allgather *gather = &c->memory.meeting;
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    uccs_node_allgather_begin(gather, c->memory.team, (size_t)nodes->widest * bytes);
    return uccs_node_allgather_buffer(gather, 0) + (size_t)nodes->near.rank * bytes;
}

static bool have_gathered(struct uccs_coll *c)
{
    return uccs_node_allgather_done(&c->memory.meeting);
}

/* Ends a piece; goes back to the step before have_gathered when there is another one. */
static bool end_piece(struct uccs_coll *c, size_t end)
{
    c->memory.at += c->memory.piece;
    if (c->memory.at < end)
        c->step -= 2;
    return true;
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

static struct part part_of(const struct uccs_coll *c)
{
    const struct proto_blocks *blocks = &c->memory.blocks;
    if (blocks->count > 1)
        return (struct part){blocks->block, blocks->count, blocks->here, blocks->there};
    return (struct part){.element = 1, .n = blocks->block, .to = 1, .from = 1};
}

/* Gives a piece of each of my blocks. */
static bool give_blocks(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    const struct part part = part_of(c);
    const size_t size = (size_t)c->size, each = part.element * size, most = most_of(c, each) / each;
    m->piece = part.n - m->at < most ? part.n - m->at : most;
    const size_t bytes = m->piece * part.element;
    char *mine = begin_gather(c, size * bytes);
    for (int rank = 0; rank < c->size; rank++)
        copy_part(mine + (size_t)rank * bytes, (ptrdiff_t)part.element,
                  c->source + rank * m->source_step + (ptrdiff_t)m->at * part.from, part.from, m->piece, part.element);
    uccs_node_allgather_start(&m->meeting);
    return true;
}

/* Takes my piece of each member's blocks. */
static bool take_blocks(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    const struct part part = part_of(c);
    const size_t bytes = m->piece * part.element;
    for (int rank = 0; rank < c->size; rank++)
        copy_part(c->dest + rank * m->dest_step + (ptrdiff_t)m->at * part.to, part.to,
                  given_by(c, rank, (size_t)c->size * bytes) + (size_t)c->rank * bytes, (ptrdiff_t)part.element,
                  m->piece, part.element);
    return end_piece(c, part.n);
}

uccs_coll_step *const uccs_gather_alltoall[] = {give_blocks, have_gathered, take_blocks, 0};

bool uccs_gather_folds(const struct uccs_coll *c)
{
    return most_of(c, c->element) != 0;
}

static bool give_vector(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    const size_t most = most_of(c, c->element);
    m->piece = c->bytes - m->at < most ? c->bytes - m->at : most;
    memcpy(begin_gather(c, m->piece), c->source + m->at, m->piece);
    uccs_node_allgather_start(&m->meeting);
    return true;
}

static bool fold_vectors(struct uccs_coll *c)
{
    const size_t piece = c->memory.piece;
    const int last = uccs_coll_last(c);
    char *dest = c->dest + c->memory.at;
    if (last < 0)
        memset(dest, 0, piece);
    else
        memcpy(dest, given_by(c, 0, piece), piece);
    for (int rank = 1; rank <= last; rank++)
        c->fold(dest, dest, given_by(c, rank, piece), piece / c->element);
    return end_piece(c, c->bytes);
}

uccs_coll_step *const uccs_gather_fold[] = {give_vector, have_gathered, fold_vectors, 0};
