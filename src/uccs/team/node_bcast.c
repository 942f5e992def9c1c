/* Broadcasts and gathers of small data over a team on several nodes; see nodes.h. */
#include "uccs/team/team.h"

#include "uccs/core/fail.h"
#include "uccs/core/wait.h"

#include <string.h>

/* One gather of a gather. It moves the bytes at .. at + piece of the near members from .. from + window. */
struct cut {
    char *all;
    size_t bytes, at, piece;
    int from, window;
};

static void copy_out(const struct uccs_node_allgather *gather, const struct cut *cut)
{
    const struct uccs_nodes *nodes = gather->team->nodes;
    for (int node = 0; node < nodes->count; node++) {
        const char *from = uccs_node_allgather_block(gather, node);
        int first = nodes->leads[node].place + cut->from, members = uccs_nodes_members(nodes, node) - cut->from;
        members = members < cut->window ? members : cut->window;
        bool whole = cut->piece == cut->bytes && !nodes->order;
        if (whole && members > 0)
            memcpy(cut->all + (size_t)first * cut->bytes, from, (size_t)members * cut->bytes);
        for (int i = 0; !whole && i < members; i++) {
            size_t rank = (size_t)uccs_nodes_rank(nodes, first + i);
            memcpy(cut->all + rank * cut->bytes + cut->at, from + (size_t)i * cut->piece, cut->piece);
        }
    }
}

static void gather_cut(struct uccs_team *team, const struct cut *cut, const char *mine)
{
    struct uccs_node_allgather gather;
    int place = team->nodes->near.rank - cut->from;
    uccs_node_allgather_begin(&gather, team, (size_t)cut->window * cut->piece);
    if (place >= 0 && place < cut->window)
        memcpy(uccs_node_allgather_buffer(&gather, 0) + (size_t)place * cut->piece, mine + cut->at, cut->piece);
    uccs_node_allgather_run(&gather);
    copy_out(&gather, cut);
}

void uccs_nodes_allgather(struct uccs_team *team, void *all, const void *mine, size_t bytes)
{
    int most = NODES_GATHER_BYTES / team->nodes->count, widest = team->nodes->widest;
    struct cut cut = {.all = all, .bytes = bytes, .window = widest < most ? widest : most};
    if (most == 0)
        uccs_fail("a team over %d nodes is too large", team->nodes->count);
    size_t share = (size_t)(most / cut.window);
    for (; cut.from < widest; cut.from += cut.window)
        for (cut.at = 0; cut.at < bytes; cut.at += cut.piece) {
            cut.piece = bytes - cut.at < share ? bytes - cut.at : share;
            gather_cut(team, &cut, mine);
        }
}

/* One broadcast: its number, and its place in the ring, which is the same on all nodes. */
struct bcast {
    const void *data;
    size_t bytes, at, flag;
    uint64_t number;
    uint32_t held;
};

/* Gives the broadcast the next flag and the next part of the room. When either is used up all sync, and the ring is empty again.
 * Every member counts alike, since all know the size of each broadcast. */
static struct bcast bcast_begin(struct uccs_team *team, const void *source, size_t bytes)
{
    struct uccs_nodes *nodes = team->nodes;
    if (nodes->posted + 1 > nodes->settled + NODES_RING || nodes->filled + bytes > NODES_RING_ROOM)
        uccs_nodes_sync(team);
    if (nodes->posted == nodes->settled)
        nodes->filled = 0;
    const uint64_t number = ++nodes->posted;
    const struct bcast bcast = {.data = source,
                                .bytes = bytes,
                                .at = nodes->filled,
                                .number = number,
                                .flag = number % NODES_RING * sizeof(uint64_t)};
    nodes->filled += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return bcast;
}

static void bcast_to(struct uccs_team *team, int node, struct bcast *bcast)
{
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET,
                                     .place = uccs_place_plus(uccs_nodes_line(team, node, TEAM_RING), bcast->flag),
                                     .value = bcast->number};
    uccs_nodes_put(uccs_nodes_lead_pe(team, node),
                   uccs_place_plus(uccs_nodes_line(team, node, TEAM_RING_DATA), bcast->at), bcast->data, bcast->bytes,
                   &set, &bcast->held);
}

/* Sends along a binomial tree over the nodes, which are counted from the root's node. The farthest child has the most
 * to do, so it is sent to first. */
static void bcast_on(struct uccs_team *team, int root_node, struct bcast *bcast)
{
    const struct uccs_nodes *nodes = team->nodes;
    int me = (nodes->mine - root_node + nodes->count) % nodes->count, step = 1;
    while (step < nodes->count && !(me & step))
        step *= 2;
    for (step /= 2; step > 0; step /= 2)
        if (me + step < nodes->count)
            bcast_to(team, (me + step + root_node) % nodes->count, bcast);
}

void uccs_node_bcast(struct uccs_team *team, void *dest, const void *source, size_t bytes, int root)
{
    struct uccs_nodes *nodes = team->nodes;
    struct bcast bcast = bcast_begin(team, source, bytes);
    char *place = (char *)uccs_lead_line(nodes, TEAM_RING_DATA) + bcast.at;
    uint64_t *flag = (uint64_t *)((char *)uccs_lead_line(nodes, TEAM_RING) + bcast.flag);
    int root_node = uccs_nodes_of(nodes, root);
    if (team->rank == root) {
        bcast_on(team, root_node, &bcast);
        memcpy(place, source, nodes->near.size > 1 ? bytes : 0);
        atomic_store_release(flag, bcast.number); /* acquire: the near members' load below */
    } else {
        struct uccs_wait wait uccs_scoped = {.on = uccs_reason_pe(uccs_team_pe(team, root))};
        while (atomic_load_acquire(flag) < bcast.number) /* release: the message's signal, or a near root's store */
            uccs_pause(&wait);
        bcast.data = place;
        if (nodes->near.rank == 0 && root_node != nodes->mine)
            bcast_on(team, root_node, &bcast);
        memcpy(dest, place, bytes);
    }
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&bcast.held) != 0) /* acqrel: proto_send_free */
        uccs_pause(&wait);
}
