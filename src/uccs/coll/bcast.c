/* Broadcasts over several nodes, in pieces. A piece goes from the root to the leads of the other nodes, along a tree of nodes, by internal
 * puts, each with the number of the piece behind it in a flag of the lead's row. The near members see the flag, too, and copy the piece.
 *
 * small  A piece lies in the ring, a room in the lead's row, so nobody waits for a receiver, but for the sync of all when flags or
 *        room are used up. The near members of the root find it there, too.
 * long   All come first. Pieces go straight into the dest of the leads; the near members of the root copy its source. In long ones each
 *        node passes pieces on to the next one, so that each link carries them once. */
#include "base/copy.h"
#include "uccs/coll/inner.h"

#define PIECE_LEAST (64u << 10)  /* of a long one */
#define CHAIN_LEAST (512u << 10) /* bytes from which a chain is better than a tree */

struct piece {
    struct uccs_coll *coll;
    bool small;
    size_t at, bytes;
    uint64_t number;
    size_t flag, room; /* where they lie in the ring */
};

/* Gives the piece the next flag and, if it is small, the next part of the room. When either is used up all sync, and the ring is
 * empty again. Every member counts alike. A long broadcast has NODES_RING pieces at most, and begins with a sync. */
static void number_piece(struct piece *piece)
{
    struct uccs_team *team = piece->coll->memory.team;
    struct uccs_nodes *nodes = team->nodes;
    const size_t bytes = piece->small ? piece->bytes : 0;
    if (nodes->posted + 1 > nodes->settled + NODES_RING || nodes->filled + bytes > NODES_RING_ROOM)
        uccs_nodes_sync(team);
    if (nodes->posted == nodes->settled)
        nodes->filled = 0;
    piece->number = ++nodes->posted;
    piece->flag = piece->number % NODES_RING * sizeof(uint64_t);
    piece->room = nodes->filled;
    nodes->filled += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Sends the piece to the node at a distance from the root's. */
static void pass_to(const struct piece *piece, int distance, const char *from)
{
    struct uccs_coll *c = piece->coll;
    const struct uccs_team *team = c->memory.team;
    const struct uccs_nodes *nodes = team->nodes;
    const int node = (distance + uccs_nodes_of(nodes, c->root)) % nodes->count, pe = uccs_nodes_lead_pe(team, node);
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET,
                                     .place = uccs_place_plus(uccs_nodes_line(team, node, TEAM_RING), piece->flag),
                                     .value = piece->number};
    const struct proto_address at = piece->small
                                        ? uccs_place_plus(uccs_nodes_line(team, node, TEAM_RING_DATA), piece->room)
                                        : uccs_coll_place(c->call, "dest", c->dest + piece->at, pe);
    uccs_nodes_put(pe, at, from, piece->bytes, &set, &c->memory.held);
}

/* Sends the piece to the nodes that come after mine, counted from the root's. In a binomial tree the farthest child has the
 * most to do, so it is sent to first. */
static void pass_on(const struct piece *piece, const char *from)
{
    const struct uccs_coll *c = piece->coll;
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    const int me = (nodes->mine - uccs_nodes_of(nodes, c->root) + nodes->count) % nodes->count;
    int step = 1;
    if (c->bytes >= CHAIN_LEAST) {
        if (me + 1 < nodes->count)
            pass_to(piece, me + 1, from);
        return;
    }
    while (step < nodes->count && !(me & step))
        step *= 2;
    for (step /= 2; step > 0; step /= 2)
        if (me + step < nodes->count)
            pass_to(piece, me + step, from);
}

/* Returns where a member other than the root finds the piece once its flag is set: in the ring, the lead's dest, or a near root's
 * source, for which it does not wait. */
static const char *await_piece(const struct piece *piece, uint64_t *flag)
{
    const struct uccs_coll *c = piece->coll;
    const struct uccs_team *team = c->memory.team;
    const struct uccs_nodes *nodes = team->nodes;
    if (!piece->small && uccs_nodes_of(nodes, c->root) == nodes->mine)
        return (char *)uccs_coll_peer(c->call, "source", team, c->source, c->root) + piece->at;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_pe(uccs_team_pe(team, c->root))};
    while (atomic_load_acquire(flag) < piece->number) /* release: the put's signal, or a near root's store */
        uccs_pause(&wait);
    if (piece->small)
        return (char *)uccs_lead_line(nodes, TEAM_RING_DATA) + piece->room;
    return (char *)uccs_coll_peer(c->call, "dest", &nodes->near, c->dest, 0) + piece->at;
}

static void pass_piece(struct piece *piece)
{
    struct uccs_coll *c = piece->coll;
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    number_piece(piece);
    uint64_t *flag = (uint64_t *)((char *)uccs_lead_line(nodes, TEAM_RING) + piece->flag);
    if (c->rank == c->root) {
        const char *from = c->source + piece->at;
        pass_on(piece, from);
        if (piece->small && nodes->near.size > 1) {
            memcpy((char *)uccs_lead_line(nodes, TEAM_RING_DATA) + piece->room, from, piece->bytes);
            atomic_store_release(flag, piece->number); /* acquire: await_piece */
        }
        return;
    }
    const char *from = await_piece(piece, flag);
    char *to = c->dest + piece->at;
    if (nodes->near.rank == 0 && uccs_nodes_of(nodes, c->root) != nodes->mine)
        pass_on(piece, from);
    if (to != from)
        memcpy(to, from, piece->bytes);
}

/* What lies in the ring is in use until it has left, so a small piece ends before the next one. */
static void pass_pieces(struct uccs_coll *c, size_t most, bool small)
{
    struct piece piece = {.coll = c, .small = small};
    for (; piece.at < c->bytes; piece.at += piece.bytes) {
        piece.bytes = c->bytes - piece.at < most ? c->bytes - piece.at : most;
        pass_piece(&piece);
        if (small)
            uccs_coll_settle(c);
    }
    if (c->rank == c->root && c->memory.at_root && c->dest != c->source)
        memcpy(c->dest, c->source, c->bytes);
}

static bool pass_small(struct uccs_coll *c)
{
    pass_pieces(c, NODES_RING_BYTES, true);
    return true;
}

static bool pass_long(struct uccs_coll *c)
{
    const size_t most = (c->bytes + NODES_RING - 1) / NODES_RING;
    pass_pieces(c, most < PIECE_LEAST ? PIECE_LEAST : most, false);
    return true;
}

uccs_coll_step *const uccs_gather_broadcast[] = {pass_small, 0};
uccs_coll_step *const uccs_rail_broadcast[] = {uccs_coll_come, pass_long, uccs_coll_meet_near, uccs_coll_settled, 0};

/* Small data of blocking collectives over nodes: the members of a node put their data into their lead's buffer, the leads
 * gather all nodes' buffers (uccs/team/row.h), then every member reads what all nodes have brought. A gather is one message per node and round, whatever the collective. */

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
