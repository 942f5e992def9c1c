/* Collectives over several nodes on long data (nodes.h).
 *
 * All come first (an allgather without data), so that everybody's dest may be written. Then data crosses to each other node once, as internal puts
 * straight into their place at one member there; which one depends on the sender, so that all members of a node have a
 * share of the traffic. They count in the receiver's line TEAM_LANDED. What has come to a near member is copied from
 * it after a sync of the node, and a second one lets the memory go.
 *
 * broadcast  chunks through a tree of nodes (long ones: a chain, each passes on what it has), flags in the lead's row
 * reduce     the vector is cut into a slice for each rail, as many as the smallest node has members; rail k of the first
 *            node folds slice k of its members, chunk by chunk, and sends each on to rail k of the next node, which folds
 *            its members onto it; the last one sends the results back along the chain. So any element is a left fold in
 *            the order of the ranks, each link carries it once in either direction, and both are busy at once. What
 *            comes lies in a room (uccs/proto/initiator.h) meanwhile. On scattered nodes the order is that of the places, so
 *            only integers, for which it does not matter, go this way
 *
 * Rules and threads: inner.h. */
#include "uccs/coll/inner.h"

#include "base/copy.h"

#include <stdlib.h>

#define CHUNK_LEAST (64u << 10)
#define CHAIN_LEAST (512u << 10) /* bytes of a broadcast from which a chain is better than a tree */
#define FOLD_BLOCK 8192

/* --- Puts that are counted ------------------------------------------------------------------------------------ */

/* The member of `node` that takes what near member `index` of another node sends there. */
static int taker(const struct uccs_nodes *nodes, int node, int index)
{
    return uccs_nodes_rank(nodes, nodes->leads[node].place + index % uccs_nodes_members(nodes, node));
}

/* Sends bytes to the same address `dest` of a member, and counts them there. */
static void send_counted(const struct uccs_coll *c, int node, int rank, void *dest, const void *from, size_t bytes,
                         uint32_t *held)
{
    const struct uccs_team *team = c->memory.team;
    int pe = uccs_team_pe(team, rank);
    const struct proto_notify landed = {.what = PROTO_SIGNAL_ADD,
                                        .place = uccs_nodes_line(team, node, TEAM_LANDED),
                                        .value = 1};
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_INTERNAL_PUT,
                                              .pe = pe,
                                              .at = uccs_coll_place(c->call, "dest", dest, pe),
                                              .source = from,
                                              .bytes = bytes,
                                              .with = &landed,
                                              .held = held});
}

/* Waits until `count` further internal puts have come to this PE. */
static void await_landed(struct uccs_team *team, uint64_t count)
{
    const uint64_t *line = uccs_team_line(team, team->rank, TEAM_LANDED);
    struct uccs_wait wait uccs_scoped = {0};
    team->nodes->landed += count;
    while (atomic_load_acquire(line) < team->nodes->landed) /* acqrel: the put's signal */
        uccs_pause(&wait);
}

/* --- Collect and fcollect ---------------------------------------------------------------------------------------- */

/* Blocks of equal length, or as `at` says. */
struct blocks {
    const size_t *at;
    size_t bytes;
};

static size_t start_of(const struct blocks *blocks, int rank)
{
    return blocks->at ? blocks->at[rank] : (size_t)rank * blocks->bytes;
}

static size_t length_of(const struct blocks *blocks, int rank)
{
    return start_of(blocks, rank + 1) - start_of(blocks, rank);
}

static void send_block(const struct uccs_coll *c, const struct blocks *blocks, uint32_t *held)
{
    const struct uccs_nodes *nodes = c->memory.team->nodes;
    size_t bytes = length_of(blocks, c->rank);
    char *to = c->dest + start_of(blocks, c->rank);
    for (int i = 1; bytes && i < nodes->count; i++) {
        int node = uccs_nodes_around(nodes, i);
        send_counted(c, node, taker(nodes, node, nodes->near.rank), to, c->source, bytes, held);
    }
    if (bytes && to != c->source)
        memcpy(to, c->source, bytes);
}

/* Returns the number of blocks that come from other nodes to near member `index`. */
static uint64_t count_for(const struct uccs_nodes *nodes, const struct blocks *blocks, int index)
{
    uint64_t count = 0;
    for (int i = 1; i < nodes->count; i++) {
        int node = uccs_nodes_around(nodes, i);
        for (int k = index; k < uccs_nodes_members(nodes, node); k += nodes->near.size)
            count += length_of(blocks, uccs_nodes_rank(nodes, nodes->leads[node].place + k)) != 0;
    }
    return count;
}

static void copy_block(char *dest, const char *theirs, const struct blocks *blocks, int rank)
{
    memcpy(dest + start_of(blocks, rank), theirs + start_of(blocks, rank), length_of(blocks, rank));
}

static void copy_from(char *dest, const char *theirs, const struct uccs_nodes *nodes, const struct blocks *blocks,
                      int index)
{
    copy_block(dest, theirs, blocks, uccs_nodes_rank(nodes, nodes->first + index));
    for (int i = 1; i < nodes->count; i++) {
        int node = uccs_nodes_around(nodes, i);
        for (int k = index; k < uccs_nodes_members(nodes, node); k += nodes->near.size)
            copy_block(dest, theirs, blocks, uccs_nodes_rank(nodes, nodes->leads[node].place + k));
    }
}

static void spread(const struct uccs_coll *c, const struct blocks *blocks)
{
    struct uccs_team *team = c->memory.team;
    struct uccs_nodes *nodes = team->nodes;
    uint32_t held = 0;
    uccs_nodes_sync(team);
    send_block(c, blocks, &held);
    await_landed(team, count_for(nodes, blocks, nodes->near.rank));
    uccs_team_sync(&nodes->near);
    for (int i = 1; i < nodes->near.size; i++) {
        int index = uccs_coll_around(&nodes->near, nodes->near.rank, i);
        copy_from(c->dest, uccs_coll_peer(c->call, "dest", &nodes->near, c->dest, index), nodes, blocks, index);
    }
    uccs_team_sync(&nodes->near);
    uccs_nodes_settle(&held);
}

void uccs_rail_allgather(const struct uccs_coll *c)
{
    spread(c, &(struct blocks){.bytes = c->bytes});
}

void uccs_rail_collect(const struct uccs_coll *c, const size_t *at)
{
    spread(c, &(struct blocks){.at = at});
}

/* --- Alltoall ---------------------------------------------------------------------------------------------------- */

/* Each member begins with the one behind it, so that not all send to the same. */
void uccs_rail_alltoall(const struct uccs_coll *c)
{
    struct uccs_team *team = c->memory.team;
    struct uccs_nodes *nodes = team->nodes;
    const struct uccs_team *near = &nodes->near;
    size_t me = (size_t)c->rank * c->bytes;
    uint32_t held = 0;
    uccs_nodes_sync(team);
    for (int i = 1; i < c->size; i++) {
        int rank = uccs_coll_around(team, c->rank, i), node = uccs_nodes_of(nodes, rank);
        if (node != nodes->mine)
            send_counted(c, node, rank, c->dest + me, c->source + (size_t)rank * c->bytes, c->bytes, &held);
    }
    for (int i = 0; i < near->size; i++) {
        int index = uccs_coll_around(near, near->rank, i);
        const char *from = uccs_coll_peer(c->call, "source", near, c->source + me, index);
        memcpy(c->dest + (size_t)uccs_nodes_rank(nodes, nodes->first + index) * c->bytes, from, c->bytes);
    }
    await_landed(team, (uint64_t)(c->size - near->size));
    uccs_team_sync(&nodes->near);
    uccs_nodes_settle(&held);
}

/* Puts my block for a far member. With strides it is packed into one message, which the member unpacks. */
static void put_block(const struct uccs_coll *c, int rank, int pe, uccs_request_handle *request)
{
    const struct proto_blocks *blocks = &c->memory.blocks;
    const struct proto_blocks back = {blocks->block, blocks->count, blocks->here, blocks->there};
    char *dest = c->dest + c->rank * c->memory.dest_step;
    const bool plain = blocks->count == 1;
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_PUT,
                                              .nonblocking = plain,
                                              .pe = pe,
                                              .at = uccs_coll_place(c->call, "dest", dest, pe),
                                              .source = c->source + rank * c->memory.source_step,
                                              .bytes = plain ? blocks->block : 0,
                                              .blocks = plain ? 0 : &back,
                                              .request = request});
}

void uccs_rail_alltoalls(const struct uccs_coll *c)
{
    const struct uccs_by_memory *m = &c->memory;
    struct uccs_request all = {.pending = 1}; /* no one's child, and with an owner: nobody frees it */
    uccs_request_handle handle = &all;
    uccs_nodes_sync(m->team);
    for (int i = 0; i < c->size; i++) {
        int rank = uccs_coll_around(m->team, c->rank, i), pe = uccs_team_pe(m->team, rank);
        const char *mine = c->source + c->rank * m->source_step;
        if (uccs_far_pe(pe))
            put_block(c, rank, pe, &handle);
        else
            copy_blocks(c->dest + rank * m->dest_step, m->blocks.here,
                        uccs_coll_peer(c->call, "source", m->team, mine, rank), m->blocks.there, m->blocks.block,
                        m->blocks.count);
    }
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: uccs_request_finish */
        uccs_pause(&wait);
    uccs_nodes_sync(m->team);
}

/* --- Broadcast --------------------------------------------------------------------------------------------------- */

struct bcast {
    const struct uccs_coll *c;
    size_t chunk;
    uint64_t number; /* of the gather before: flags hold it */
    int root_node;
    uint32_t held;
};

static void pass_to(struct bcast *bcast, int distance, const char *from, size_t at, size_t bytes)
{
    const struct uccs_nodes *nodes = bcast->c->memory.team->nodes;
    int node = (distance + bcast->root_node) % nodes->count, pe = uccs_nodes_lead_pe(bcast->c->memory.team, node);
    struct proto_address flag = uccs_nodes_line(bcast->c->memory.team, node, TEAM_CHUNKS);
    flag.offset += at / bcast->chunk * sizeof(uint64_t);
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET, .place = flag, .value = bcast->number};
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_INTERNAL_PUT,
                                              .pe = pe,
                                              .at = uccs_coll_place(bcast->c->call, "dest", bcast->c->dest + at, pe),
                                              .source = from + at,
                                              .bytes = bytes,
                                              .with = &set,
                                              .held = &bcast->held});
}

/* Sends to the nodes that come after mine, counted from the root's node. */
static void pass_on(struct bcast *bcast, const char *from, size_t at, size_t bytes)
{
    const struct uccs_nodes *nodes = bcast->c->memory.team->nodes;
    int me = (nodes->mine - bcast->root_node + nodes->count) % nodes->count, step = 1;
    if (bcast->c->bytes >= CHAIN_LEAST) {
        if (me + 1 < nodes->count)
            pass_to(bcast, me + 1, from, at, bytes);
        return;
    }
    while (step < nodes->count && !(me & step))
        step *= 2;
    for (step /= 2; step > 0; step /= 2)
        if (me + step < nodes->count)
            pass_to(bcast, me + step, from, at, bytes);
}

/* Chunks come to the node's lead; its other members copy each chunk from the lead. */
static void take_chunk(struct bcast *bcast, size_t at, size_t bytes)
{
    const struct uccs_nodes *nodes = bcast->c->memory.team->nodes;
    const uint64_t *flag = (const uint64_t *)uccs_team_line(&nodes->near, 0, TEAM_CHUNKS) + at / bcast->chunk;
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(flag) < bcast->number) /* release: the put's signal */
        uccs_pause(&wait);
    if (nodes->near.rank == 0)
        pass_on(bcast, bcast->c->dest, at, bytes);
    else
        memcpy(bcast->c->dest + at,
               (char *)uccs_coll_peer(bcast->c->call, "dest", &nodes->near, bcast->c->dest, 0) + at, bytes);
}

static void bcast_chunks(struct bcast *bcast, bool root)
{
    for (size_t at = 0, bytes; at < bcast->c->bytes; at += bytes) {
        bytes = bcast->c->bytes - at < bcast->chunk ? bcast->c->bytes - at : bcast->chunk;
        if (root)
            pass_on(bcast, bcast->c->source, at, bytes);
        else
            take_chunk(bcast, at, bytes);
    }
}

static size_t chunk_of(size_t bytes)
{
    size_t chunk = (bytes + NODES_CHUNKS - 1) / NODES_CHUNKS;
    return chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk;
}

void uccs_rail_broadcast(const struct uccs_coll *c)
{
    struct uccs_team *team = c->memory.team;
    struct uccs_nodes *nodes = team->nodes;
    struct bcast bcast = {.c = c, .chunk = chunk_of(c->bytes), .root_node = uccs_nodes_of(nodes, c->root)};
    uccs_nodes_sync(team);
    bcast.number = nodes->allgathers[0];
    if (bcast.root_node != nodes->mine || c->rank == c->root)
        bcast_chunks(&bcast, c->rank == c->root);
    else
        memcpy(c->dest, uccs_coll_peer(c->call, "source", team, c->source, c->root), c->bytes);
    if (c->rank == c->root && c->memory.at_root && c->dest != c->source)
        memcpy(c->dest, c->source, c->bytes);
    uccs_team_sync(&nodes->near);
    uccs_nodes_settle(&bcast.held);
}

/* --- Reduce ------------------------------------------------------------------------------------------------------ */

/* A rail's work. The room: flags of the chunks that come from the node before, flags of results, then the chunks. */
struct rail {
    const struct uccs_coll *c;
    struct uccs_team *team;
    size_t size;          /* of an element */
    size_t from, to;      /* my slice */
    size_t chunk, chunks; /* elements of one; how many there are */
    char *room;
    struct proto_address opened;
    uint64_t *rooms; /* of the members, by rank: offsets of their places */
    size_t passed;   /* results that I have, and the node before has been sent */
    uint32_t held;
};

static void slice_of(const struct rail *rail, int index, size_t *from, size_t *to)
{
    size_t rails = (size_t)rail->team->nodes->narrowest, k = (size_t)index;
    *from = rail->c->n * k / rails;
    *to = rail->c->n * (k + 1) / rails;
}

static size_t data_at(const struct rail *rail)
{
    size_t flags = 2 * rail->chunks * sizeof(uint64_t);
    return (flags + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static void open_room(struct rail *rail)
{
    slice_of(rail, rail->team->nodes->near.rank, &rail->from, &rail->to);
    rail->chunk = CHUNK_LEAST / rail->size;
    rail->chunks = (rail->to - rail->from + rail->chunk - 1) / rail->chunk;
    size_t bytes = data_at(rail) + (rail->to - rail->from) * rail->size;
    rail->room = uccs_coll_room(rail->c->call, bytes + CACHE_LINE);
    memset(rail->room, 0, data_at(rail));
    rail->opened = proto_landing_open(rail->room, bytes);
}

/* Opens rooms at the rails. After the exchange every member knows all rooms. */
static void open_rail(struct rail *rail)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    rail->rooms = uccs_coll_room(rail->c->call, (size_t)rail->team->size * sizeof *rail->rooms);
    if (nodes->near.rank < nodes->narrowest)
        open_room(rail);
    uccs_nodes_allgather(rail->team, rail->rooms, &rail->opened.offset, sizeof rail->opened.offset);
}

static void close_rail(struct rail *rail)
{
    uccs_nodes_settle(&rail->held);
    if (rail->room)
        proto_landing_close(rail->opened);
    free(rail->room);
    free(rail->rooms);
}

static char *chunk_of_room(const struct rail *rail, size_t chunk)
{
    return rail->room + data_at(rail) + chunk * rail->chunk * rail->size;
}

static size_t elements_of(const struct rail *rail, size_t chunk)
{
    size_t left = rail->to - rail->from - chunk * rail->chunk;
    return left < rail->chunk ? left : rail->chunk;
}

static const uint64_t *flag_of(const struct rail *rail, bool result, size_t chunk)
{
    return (const uint64_t *)rail->room + (result ? rail->chunks : 0) + chunk;
}

static void send_chunk(struct rail *rail, int node, bool result, size_t chunk, const char *from)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    int rank = uccs_nodes_rank(nodes, nodes->leads[node].place + nodes->near.rank);
    int pe = uccs_team_pe(rail->team, rank);
    struct proto_address there = {.segment = PROTO_LANDING, .offset = rail->rooms[rank]}, flag = there;
    flag.offset += ((result ? rail->chunks : 0) + chunk) * sizeof(uint64_t);
    there.offset += data_at(rail) + chunk * rail->chunk * rail->size;
    if (result)
        there =
            uccs_coll_place(rail->c->call, "dest", rail->c->dest + (rail->from + chunk * rail->chunk) * rail->size, pe);
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET, .place = flag, .value = 1};
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_INTERNAL_PUT,
                                              .pe = pe,
                                              .at = there,
                                              .source = from,
                                              .bytes = elements_of(rail, chunk) * rail->size,
                                              .with = &set,
                                              .held = &rail->held});
}

/* Folds my node's members onto the sums, block by block, so that the sums stay in the nearest cache. */
static void fold_near(const struct rail *rail, char *sums, size_t at, size_t n)
{
    const struct uccs_team *near = &rail->team->nodes->near;
    size_t most = FOLD_BLOCK / rail->size;
    for (size_t done = 0, piece; done < n; done += piece) {
        piece = n - done < most ? n - done : most;
        char *sum = sums + done * rail->size;
        for (int rank = 0; rank < near->size; rank++) {
            const char *theirs = uccs_coll_peer(rail->c->call, "source", near, rail->c->source, rank);
            theirs += (at + done) * rail->size;
            if (rank == 0 && rail->team->nodes->mine == 0)
                memcpy(sum, theirs, piece * rail->size);
            else
                rail->c->fold(sum, sum, theirs, piece);
        }
    }
}

/* Sends results that have come on to the node before. */
static void pass_results(struct rail *rail, bool wait_for_it)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    struct uccs_wait wait uccs_scoped = {0};
    for (; rail->passed < rail->chunks; rail->passed++) {
        while (!atomic_load_acquire(flag_of(rail, true, rail->passed))) { /* release: the put's signal */
            if (!wait_for_it)
                return;
            uccs_pause(&wait);
        }
        const char *result = rail->c->dest + (rail->from + rail->passed * rail->chunk) * rail->size;
        if (nodes->mine > 0)
            send_chunk(rail, nodes->mine - 1, true, rail->passed, result);
    }
}

/* Folds onto the sums of the nodes before; the sums of the last node are the results. */
static void fold_chunk(struct rail *rail, size_t chunk)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    size_t at = rail->from + chunk * rail->chunk, n = elements_of(rail, chunk);
    char *sums = chunk_of_room(rail, chunk), *result = rail->c->dest + at * rail->size;
    struct uccs_wait wait uccs_scoped = {0};
    while (nodes->mine > 0 && !atomic_load_acquire(flag_of(rail, false, chunk))) { /* release: the put's signal */
        pass_results(rail, false);
        uccs_pause(&wait);
    }
    fold_near(rail, sums, at, n);
    if (nodes->mine + 1 < nodes->count) {
        send_chunk(rail, nodes->mine + 1, false, chunk, sums);
        return;
    }
    memcpy(result, sums, n * rail->size);
    send_chunk(rail, nodes->mine - 1, true, chunk, result);
}

static void run_rail(struct rail *rail)
{
    for (size_t chunk = 0; chunk < rail->chunks; chunk++)
        fold_chunk(rail, chunk);
    if (rail->team->nodes->mine + 1 < rail->team->nodes->count)
        pass_results(rail, true);
}

/* Copies the slices of my node's other rails. */
static void copy_slices(const struct rail *rail)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    for (int i = 1; i < nodes->near.size; i++) {
        int index = uccs_coll_around(&nodes->near, nodes->near.rank, i);
        if (index >= nodes->narrowest)
            continue;
        size_t from, to;
        slice_of(rail, index, &from, &to);
        const char *theirs = uccs_coll_peer(rail->c->call, "dest", &nodes->near, rail->c->dest, index);
        memcpy(rail->c->dest + from * rail->size, theirs + from * rail->size, (to - from) * rail->size);
    }
}

void uccs_rail_reduce(const struct uccs_coll *c)
{
    struct rail rail = {.c = c, .team = c->memory.team, .size = c->element};
    open_rail(&rail);
    if (rail.room)
        run_rail(&rail);
    uccs_team_sync(&rail.team->nodes->near);
    copy_slices(&rail);
    uccs_team_sync(&rail.team->nodes->near);
    close_rail(&rail);
}
