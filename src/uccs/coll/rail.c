/* Collectives over several nodes on long data (nodes.h).
 *
 * All come first (an allgather without data), so that everybody's dest may be written. Then data crosses to each other node once, as internal puts
 * straight into their place at one member there; which one depends on the sender, so that all members of a node have a
 * share of the traffic. They count in the receiver's line TEAM_LANDED. What has come to a near member is copied from
 * it after a sync of the node, and a second one lets the memory go.
 *
 * reduce     the vector is cut into a slice for each rail, as many as the smallest node has members; rail k of the first
 *            node folds slice k of its members, chunk by chunk, and sends each on to rail k of the next node, which folds
 *            its members onto it; the last one sends the results back along the chain. So any element is a left fold in
 *            the order of the ranks, each link carries it once in either direction, and both are busy at once. What
 *            comes lies in a room (uccs/proto/initiator.h) meanwhile. On scattered nodes the order is that of the places, so
 *            only integers, for which it does not matter, go this way
 *
 * Rules and threads: inner.h. */
#include "uccs/coll/inner.h"

#include <stdlib.h>

#define CHUNK_LEAST (64u << 10)
#define FOLD_BLOCK 8192

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

/* --- Reduce ------------------------------------------------------------------------------------------------------ */

/* A rail's work, in `owned`. The room: flags of the chunks that come from the node before, flags of results, then the chunks. */
struct rail {
    struct uccs_coll *c;
    const struct uccs_team *team;
    size_t size;          /* of an element */
    size_t from, to;      /* my slice */
    size_t chunk, chunks; /* elements of one; how many there are */
    char *room;
    struct proto_address opened;
    uint64_t *rooms; /* of the members, by rank: offsets of their places */
    size_t folded;   /* chunks that are done here */
    size_t passed;   /* results that I have, and the node before has been sent */
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
static bool open_rail(struct uccs_coll *c)
{
    struct uccs_team *team = c->memory.team;
    struct rail *rail = c->owned = uccs_coll_room(c->call, sizeof *rail);
    *rail = (struct rail){.c = c, .team = team, .size = c->element};
    rail->rooms = uccs_coll_room(c->call, (size_t)c->size * sizeof *rail->rooms);
    if (team->nodes->near.rank < team->nodes->narrowest)
        open_room(rail);
    uccs_nodes_allgather(team, rail->rooms, &rail->opened.offset, sizeof rail->opened.offset);
    return true;
}

static bool close_rail(struct uccs_coll *c)
{
    struct rail *rail = c->owned;
    if (rail->room)
        proto_landing_close(rail->opened);
    free(rail->room);
    free(rail->rooms);
    return true;
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
    uccs_nodes_put(pe, there, from, elements_of(rail, chunk) * rail->size, &set, &rail->c->memory.held);
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

/* Sends results that have come on to the node before. Returns true when all have come. */
static bool pass_results(struct rail *rail)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    for (; rail->passed < rail->chunks; rail->passed++) {
        if (!atomic_load_acquire(flag_of(rail, true, rail->passed))) /* release: the put's signal */
            return false;
        const char *result = rail->c->dest + (rail->from + rail->passed * rail->chunk) * rail->size;
        if (nodes->mine > 0)
            send_chunk(rail, nodes->mine - 1, true, rail->passed, result);
    }
    return true;
}

/* Folds onto the sums of the nodes before; the sums of the last node are the results. */
static void fold_chunk(struct rail *rail, size_t chunk)
{
    const struct uccs_nodes *nodes = rail->team->nodes;
    size_t at = rail->from + chunk * rail->chunk, n = elements_of(rail, chunk);
    char *sums = chunk_of_room(rail, chunk), *result = rail->c->dest + at * rail->size;
    fold_near(rail, sums, at, n);
    if (nodes->mine + 1 < nodes->count) {
        send_chunk(rail, nodes->mine + 1, false, chunk, sums);
        return;
    }
    memcpy(result, sums, n * rail->size);
    send_chunk(rail, nodes->mine - 1, true, chunk, result);
}

static bool fold_chunks(struct uccs_coll *c)
{
    struct rail *rail = c->owned;
    const struct uccs_nodes *nodes = rail->team->nodes;
    const bool last = nodes->mine + 1 == nodes->count;
    for (; rail->room && rail->folded < rail->chunks; rail->folded++) {
        if (nodes->mine > 0 &&
            !atomic_load_acquire(flag_of(rail, false, rail->folded))) { /* release: the put's signal */
            (void)pass_results(rail);
            return false;
        }
        fold_chunk(rail, rail->folded);
    }
    return !rail->room || last || pass_results(rail);
}

/* Copies the slices of my node's other rails. */
static bool copy_slices(struct uccs_coll *c)
{
    const struct rail *rail = c->owned;
    const struct uccs_nodes *nodes = rail->team->nodes;
    for (int i = 1; i < nodes->near.size; i++) {
        int index = uccs_coll_around(&nodes->near, nodes->near.rank, i);
        if (index >= nodes->narrowest)
            continue;
        size_t from, to;
        slice_of(rail, index, &from, &to);
        const char *theirs = uccs_coll_peer(c->call, "dest", &nodes->near, c->dest, index);
        memcpy(c->dest + from * rail->size, theirs + from * rail->size, (to - from) * rail->size);
    }
    return true;
}

uccs_coll_step *const uccs_rail_reduce[] = {open_rail,           fold_chunks,       uccs_coll_meet_near, copy_slices,
                                            uccs_coll_meet_near, uccs_coll_settled, close_rail,          0};
