/* Collectives over several nodes on long data (nodes.h).
 *
 * All come first (a gather), so that everybody's dest may be written. Then data crosses to each other node once, as parcels
 * straight into their place at one member there; which one depends on the sender, so that all members of a node have a
 * share of the traffic. Parcels count in the receiver's line TEAM_LANDED. What has come to a near member is copied from
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
#include "shmem/coll/nodes.h"

#include "shmem/place.h"
#include "shmem/strided.h"
#include "shmem/state.h"
#include "uccs/team/team.h"

#include <stdlib.h>

#define CHUNK_LEAST (64u << 10)
#define CHAIN_LEAST (512u << 10) /* bytes of a broadcast from which a chain is better than a tree */
#define FOLD_BLOCK 8192

/* The place of a symmetric address at a PE; this PE need not have such memory in use. */
static struct proto_address place_at(const char *call, const void *dest, int pe)
{
    return lat_remote_address(call, "dest", dest, pe);
}

/* --- Parcels that are counted ------------------------------------------------------------------------------------ */

/* The member of `node` that takes what near member `index` of another node sends there. */
static int taker(const struct uccs_nodes *nodes, int node, int index)
{
    return uccs_nodes_rank(nodes, nodes->leads[node].place + index % uccs_nodes_members(nodes, node));
}

static void send_counted(const char *call, const struct uccs_team *group, int node, int rank, void *dest,
                         const void *from, size_t bytes, uint32_t *held)
{
    int pe = uccs_team_pe(group, rank);
    const struct proto_notify landed = {.what = PROTO_SIGNAL_ADD,
                                        .place = uccs_nodes_line(group, node, TEAM_LANDED),
                                        .value = 1};
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_INTERNAL_PUT,
                                              .pe = pe,
                                              .at = place_at(call, dest, pe),
                                              .source = from,
                                              .bytes = bytes,
                                              .with = &landed,
                                              .held = held});
}

/* Waits until `count` further parcels have come to this PE. */
static void await_landed(struct uccs_team *group, uint64_t count)
{
    const uint64_t *line = uccs_team_line(group, group->rank, TEAM_LANDED);
    struct uccs_wait wait uccs_scoped = {0};
    group->nodes->landed += count;
    while (atomic_load_acquire(line) < group->nodes->landed) /* acqrel: the parcel's signal */
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

static void send_block(const char *call, const struct uccs_team *group, char *dest, const void *source,
                       const struct blocks *blocks, uint32_t *held)
{
    const struct uccs_nodes *nodes = group->nodes;
    size_t bytes = length_of(blocks, group->rank);
    char *to = dest + start_of(blocks, group->rank);
    for (int i = 1; bytes && i < nodes->count; i++) {
        int node = uccs_nodes_around(nodes, i);
        send_counted(call, group, node, taker(nodes, node, nodes->near.rank), to, source, bytes, held);
    }
    if (bytes && to != source)
        memcpy(to, source, bytes);
}

/* Calls that look at the blocks which come to near member `index`; its own one is the first. */
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

static void spread(const char *call, struct uccs_team *group, char *dest, const void *source,
                   const struct blocks *blocks)
{
    struct uccs_nodes *nodes = group->nodes;
    uint32_t held = 0;
    uccs_nodes_sync(group);
    send_block(call, group, dest, source, blocks, &held);
    await_landed(group, count_for(nodes, blocks, nodes->near.rank));
    uccs_team_sync(&nodes->near);
    for (int i = 1; i < nodes->near.size; i++) {
        int index = lat_coll_around(&nodes->near, i);
        copy_from(dest, lat_coll_peer(call, "dest", &nodes->near, dest, index), nodes, blocks, index);
    }
    uccs_team_sync(&nodes->near);
    uccs_nodes_settle(&held);
}

void lat_rail_fcollect(const char *call, struct uccs_team *group, char *dest, const void *source, size_t bytes)
{
    spread(call, group, dest, source, &(struct blocks){.bytes = bytes});
}

void lat_rail_spread(const char *call, struct uccs_team *group, char *dest, const void *source, const size_t *at)
{
    spread(call, group, dest, source, &(struct blocks){.at = at});
}

/* --- Alltoall ---------------------------------------------------------------------------------------------------- */

/* Each member begins with the one behind it, so that not all send to the same. */
void lat_rail_alltoall(const char *call, struct uccs_team *group, char *dest, const char *source, size_t bytes)
{
    struct uccs_nodes *nodes = group->nodes;
    const struct uccs_team *near = &nodes->near;
    size_t me = (size_t)group->rank * bytes;
    uint32_t held = 0;
    uccs_nodes_sync(group);
    for (int i = 1; i < group->size; i++) {
        int rank = lat_coll_around(group, i), node = uccs_nodes_of(nodes, rank);
        if (node != nodes->mine)
            send_counted(call, group, node, rank, dest + me, source + (size_t)rank * bytes, bytes, &held);
    }
    for (int i = 0; i < near->size; i++) {
        int index = lat_coll_around(near, i);
        const char *from = lat_coll_peer(call, "source", near, source + me, index);
        memcpy(dest + (size_t)uccs_nodes_rank(nodes, nodes->first + index) * bytes, from, bytes);
    }
    await_landed(group, (uint64_t)(group->size - near->size));
    uccs_team_sync(&nodes->near);
    uccs_nodes_settle(&held);
}

/* Packs one message for each far member, which unpacks it. */
void lat_rail_alltoalls(const char *call, struct uccs_team *group, char *dest, const char *source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t size)
{
    ptrdiff_t tblock = dst * (ptrdiff_t)(nelems * size), fblock = sst * (ptrdiff_t)(nelems * size);
    const struct proto_blocks blocks = {size, nelems, dst * (ptrdiff_t)size, sst * (ptrdiff_t)size};
    struct uccs_request all = {.pending = 1}; /* no one's child, and with an owner: nobody frees it */
    uccs_request_handle handle = &all;
    uccs_nodes_sync(group);
    for (int i = 0; i < group->size; i++) {
        int rank = lat_coll_around(group, i), pe = uccs_team_pe(group, rank);
        if (uccs_far_pe(pe))
            (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_PUT,
                                                      .pe = pe,
                                                      .at = place_at(call, dest + group->rank * tblock, pe),
                                                      .source = source + rank * fblock,
                                                      .blocks = &blocks,
                                                      .request = &handle});
        else
            lat_iget(call, LAT_CTX_DEFAULT, dest + rank * tblock, source + group->rank * fblock, dst, sst, nelems, size,
                     pe);
    }
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&all.pending) != 1) /* acqrel: uccs_request_finish */
        uccs_pause(&wait);
    uccs_nodes_sync(group);
}

/* --- Broadcast --------------------------------------------------------------------------------------------------- */

struct bcast {
    const char *call;
    struct uccs_team *group;
    char *dest;
    const char *source;
    size_t bytes, chunk;
    uint64_t number; /* of the gather before: flags hold it */
    int root_node;
    uint32_t held;
};

static void pass_to(struct bcast *bcast, int distance, const char *from, size_t at, size_t bytes)
{
    const struct uccs_nodes *nodes = bcast->group->nodes;
    int node = (distance + bcast->root_node) % nodes->count, pe = uccs_nodes_lead_pe(bcast->group, node);
    struct proto_address flag = uccs_nodes_line(bcast->group, node, TEAM_CHUNKS);
    flag.offset += at / bcast->chunk * sizeof(uint64_t);
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET, .place = flag, .value = bcast->number};
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_INTERNAL_PUT,
                                              .pe = pe,
                                              .at = place_at(bcast->call, bcast->dest + at, pe),
                                              .source = from + at,
                                              .bytes = bytes,
                                              .with = &set,
                                              .held = &bcast->held});
}

/* Sends to the nodes that come after mine, counted from the root's node. */
static void pass_on(struct bcast *bcast, const char *from, size_t at, size_t bytes)
{
    const struct uccs_nodes *nodes = bcast->group->nodes;
    int me = (nodes->mine - bcast->root_node + nodes->count) % nodes->count, step = 1;
    if (bcast->bytes >= CHAIN_LEAST) {
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
    const struct uccs_nodes *nodes = bcast->group->nodes;
    const uint64_t *flag = (const uint64_t *)uccs_team_line(&nodes->near, 0, TEAM_CHUNKS) + at / bcast->chunk;
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(flag) < bcast->number) /* release: the parcel's signal */
        uccs_pause(&wait);
    if (nodes->near.rank == 0)
        pass_on(bcast, bcast->dest, at, bytes);
    else
        memcpy(bcast->dest + at, (char *)lat_coll_peer(bcast->call, "dest", &nodes->near, bcast->dest, 0) + at, bytes);
}

static void bcast_chunks(struct bcast *bcast, bool root)
{
    for (size_t at = 0, bytes; at < bcast->bytes; at += bytes) {
        bytes = bcast->bytes - at < bcast->chunk ? bcast->bytes - at : bcast->chunk;
        if (root)
            pass_on(bcast, bcast->source, at, bytes);
        else
            take_chunk(bcast, at, bytes);
    }
}

static size_t chunk_of(size_t bytes)
{
    size_t chunk = (bytes + NODES_CHUNKS - 1) / NODES_CHUNKS;
    return chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk;
}

void lat_rail_broadcast(const char *call, struct uccs_team *group, void *dest, const void *source, size_t bytes,
                        int root, bool at_root)
{
    struct uccs_nodes *nodes = group->nodes;
    struct bcast bcast = {.call = call,
                          .group = group,
                          .dest = dest,
                          .source = source,
                          .bytes = bytes,
                          .chunk = chunk_of(bytes),
                          .root_node = uccs_nodes_of(nodes, root)};
    uccs_nodes_sync(group);
    bcast.number = nodes->allgathers[0];
    if (bcast.root_node != nodes->mine || group->rank == root)
        bcast_chunks(&bcast, group->rank == root);
    else
        memcpy(dest, lat_coll_peer(call, "source", group, source, root), bytes);
    if (group->rank == root && at_root && dest != source)
        memcpy(dest, source, bytes);
    uccs_team_sync(&nodes->near);
    uccs_nodes_settle(&bcast.held);
}

/* --- Reduce ------------------------------------------------------------------------------------------------------ */

/* A rail's work. The room: flags of the chunks that come from the node before, flags of results, then the chunks. */
struct rail {
    const char *call;
    struct uccs_team *group;
    fold_kernel *combine;
    char *dest;
    const char *source;
    size_t size, n;       /* of an element; elements */
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
    size_t rails = (size_t)rail->group->nodes->narrowest, k = (size_t)index;
    *from = rail->n * k / rails;
    *to = rail->n * (k + 1) / rails;
}

static size_t data_at(const struct rail *rail)
{
    size_t flags = 2 * rail->chunks * sizeof(uint64_t);
    return (flags + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static void open_room(struct rail *rail)
{
    slice_of(rail, rail->group->nodes->near.rank, &rail->from, &rail->to);
    rail->chunk = CHUNK_LEAST / rail->size;
    rail->chunks = (rail->to - rail->from + rail->chunk - 1) / rail->chunk;
    size_t bytes = data_at(rail) + (rail->to - rail->from) * rail->size;
    rail->room = malloc(bytes + CACHE_LINE);
    if (!rail->room)
        lat_fail(rail->call, "no memory for %zu bytes of the others' vectors", bytes);
    memset(rail->room, 0, data_at(rail));
    rail->opened = proto_landing_open(rail->room, bytes);
}

/* Opens rooms at the rails. After the exchange every member knows all rooms. */
static void open_rail(struct rail *rail)
{
    const struct uccs_nodes *nodes = rail->group->nodes;
    rail->rooms = malloc((size_t)rail->group->size * sizeof *rail->rooms);
    if (!rail->rooms)
        lat_fail(rail->call, "no memory for the places of %d PEs", rail->group->size);
    if (nodes->near.rank < nodes->narrowest)
        open_room(rail);
    uccs_nodes_allgather(rail->group, rail->rooms, &rail->opened.offset, sizeof rail->opened.offset);
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
    const struct uccs_nodes *nodes = rail->group->nodes;
    int rank = uccs_nodes_rank(nodes, nodes->leads[node].place + nodes->near.rank);
    int pe = uccs_team_pe(rail->group, rank);
    struct proto_address there = {.segment = PROTO_LANDING, .offset = rail->rooms[rank]}, flag = there;
    flag.offset += ((result ? rail->chunks : 0) + chunk) * sizeof(uint64_t);
    there.offset += data_at(rail) + chunk * rail->chunk * rail->size;
    if (result)
        there = place_at(rail->call, rail->dest + (rail->from + chunk * rail->chunk) * rail->size, pe);
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
    const struct uccs_team *near = &rail->group->nodes->near;
    size_t most = FOLD_BLOCK / rail->size;
    for (size_t done = 0, piece; done < n; done += piece) {
        piece = n - done < most ? n - done : most;
        char *sum = sums + done * rail->size;
        for (int rank = 0; rank < near->size; rank++) {
            const char *theirs = lat_coll_peer(rail->call, "source", near, rail->source, rank);
            theirs += (at + done) * rail->size;
            if (rank == 0 && rail->group->nodes->mine == 0)
                memcpy(sum, theirs, piece * rail->size);
            else
                rail->combine(sum, sum, theirs, piece);
        }
    }
}

/* Sends results that have come on to the node before. */
static void pass_results(struct rail *rail, bool wait_for_it)
{
    const struct uccs_nodes *nodes = rail->group->nodes;
    struct uccs_wait wait uccs_scoped = {0};
    for (; rail->passed < rail->chunks; rail->passed++) {
        while (!atomic_load_acquire(flag_of(rail, true, rail->passed))) { /* release: the parcel's signal */
            if (!wait_for_it)
                return;
            uccs_pause(&wait);
        }
        const char *result = rail->dest + (rail->from + rail->passed * rail->chunk) * rail->size;
        if (nodes->mine > 0)
            send_chunk(rail, nodes->mine - 1, true, rail->passed, result);
    }
}

/* Folds onto the sums of the nodes before; the sums of the last node are the results. */
static void fold_chunk(struct rail *rail, size_t chunk)
{
    const struct uccs_nodes *nodes = rail->group->nodes;
    size_t at = rail->from + chunk * rail->chunk, n = elements_of(rail, chunk);
    char *sums = chunk_of_room(rail, chunk), *result = rail->dest + at * rail->size;
    struct uccs_wait wait uccs_scoped = {0};
    while (nodes->mine > 0 && !atomic_load_acquire(flag_of(rail, false, chunk))) { /* release: the parcel's signal */
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
    if (rail->group->nodes->mine + 1 < rail->group->nodes->count)
        pass_results(rail, true);
}

/* Copies the slices of my node's other rails. */
static void copy_slices(const struct rail *rail)
{
    const struct uccs_nodes *nodes = rail->group->nodes;
    for (int i = 1; i < nodes->near.size; i++) {
        int index = lat_coll_around(&nodes->near, i);
        if (index >= nodes->narrowest)
            continue;
        size_t from, to;
        slice_of(rail, index, &from, &to);
        const char *theirs = lat_coll_peer(rail->call, "dest", &nodes->near, rail->dest, index);
        memcpy(rail->dest + from * rail->size, theirs + from * rail->size, (to - from) * rail->size);
    }
}

void lat_rail_reduce(const char *call, struct uccs_team *group, void *dest, const void *source, size_t n,
                     enum kind kind, enum fold_op op)
{
    struct rail rail = {.call = call,
                        .group = group,
                        .combine = fold_kernel_of(kind, op),
                        .dest = dest,
                        .source = source,
                        .size = kind_size(kind),
                        .n = n};
    open_rail(&rail);
    if (rail.room)
        run_rail(&rail);
    uccs_team_sync(&group->nodes->near);
    copy_slices(&rail);
    uccs_team_sync(&group->nodes->near);
    close_rail(&rail);
}
