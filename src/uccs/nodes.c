/* See nodes.h. */
#include "uccs/nodes.h"

#include "uccs/far_lane.h"
#include "uccs/core/wait.h"

#include <string.h>

enum { ARRIVED, FLAGS }; /* lines of a channel: a count, then the flags of the rounds, of even and odd swaps */

static const int channels[] = {GROUP_SWAP, GROUP_SPLIT};

int uccs_nodes_lead_pe(const struct uccs_group *group, int node)
{
    return uccs_group_pe(group, group->nodes->leads[node].rank);
}

int uccs_nodes_of(const struct uccs_nodes *nodes, int rank)
{
    int low = 0, high = nodes->count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (nodes->leads[middle].rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct uccs_far_place uccs_nodes_line(const struct uccs_group *group, int node, int line)
{
    uint64_t row = (uint64_t)group->nodes->leads[node].slot * NODE_GROUP_LINES;
    return (struct uccs_far_place){.segment = FAR_ROWS, .offset = (row + (uint64_t)line) * CACHE_LINE};
}

/* The lead's. */
static void *line_of(const struct uccs_nodes *nodes, int line)
{
    return uccs_group_line(&nodes->near, 0, line);
}

static int mail_of(const struct uccs_swap *swap)
{
    return GROUP_MAIL + (int)(swap->number % 2) * NODES_BOX / CACHE_LINE;
}

char *uccs_swap_box(const struct uccs_swap *swap, int distance)
{
    return (char *)line_of(swap->group->nodes, mail_of(swap)) + (size_t)distance * swap->block;
}

static struct uccs_far_place plus(struct uccs_far_place place, uint64_t bytes)
{
    place.offset += bytes;
    return place;
}

static size_t flag_at(const struct uccs_swap *swap, int round)
{
    return ((swap->number % 2) * GROUP_ROUNDS + (size_t)round) * sizeof(uint64_t);
}

static const uint64_t *flag_of(const struct uccs_swap *swap, int round)
{
    const char *flags = line_of(swap->group->nodes, channels[swap->channel] + FLAGS);
    return (const uint64_t *)(flags + flag_at(swap, round));
}

/* My first 2^round blocks go to the node 2^round before me, where they are the next ones. */
static void send_round(struct uccs_swap *swap, int round)
{
    const struct uccs_group *group = swap->group;
    const struct uccs_nodes *nodes = group->nodes;
    int distance = 1 << round, missing = nodes->count - distance;
    int node = uccs_nodes_around(nodes, missing), pe = uccs_nodes_lead_pe(group, node);
    struct uccs_far_place flag =
        plus(uccs_nodes_line(group, node, channels[swap->channel] + FLAGS), flag_at(swap, round));
    if (swap->block == 0) {
        uccs_far_flag(pe, flag.offset, swap->number);
        return;
    }
    const struct uccs_far_parcel parcel = {
        .to = plus(uccs_nodes_line(group, node, mail_of(swap)), (uint64_t)distance * swap->block),
        .data = uccs_swap_box(swap, 0),
        .bytes = (size_t)(missing < distance ? missing : distance) * swap->block,
        .with = {.what = FAR_SIGNAL_SET, .place = flag, .value = swap->number},
    };
    uccs_far_parcel(pe, &parcel, &swap->held);
}

static void begin(struct uccs_swap *swap, struct uccs_group *group, size_t block, int channel)
{
    uint64_t number = ++group->nodes->swaps[channel];
    *swap = (struct uccs_swap){.group = group, .number = number, .block = block, .channel = channel};
}

void uccs_swap_begin(struct uccs_swap *swap, struct uccs_group *group, size_t block)
{
    begin(swap, group, block, 0);
}

static uint64_t *count_of(const struct uccs_swap *swap)
{
    return line_of(swap->group->nodes, channels[swap->channel] + ARRIVED);
}

static uint64_t all_of(const struct uccs_swap *swap)
{
    return swap->number * (uint64_t)swap->group->nodes->near.size;
}

/* Each sees what those before it have laid down, and the last one tells the first node. */
static void arrive(struct uccs_swap *swap)
{
    if (atomic_fetch_add_acqrel(count_of(swap), 1) + 1 == all_of(swap)) /* acquire: advance, by all */
        send_round(swap, 0);
}

/* On as far as it goes. All look at the flags by themselves; only the lead sends, and goes on last. */
static bool advance(struct uccs_swap *swap)
{
    const struct uccs_nodes *nodes = swap->group->nodes;
    if (!swap->arrived && atomic_load_acquire(count_of(swap)) < all_of(swap)) /* acqrel: arrive */
        return false;
    swap->arrived = true;
    while (1 << swap->round < nodes->count) {
        if (atomic_load_acquire(flag_of(swap, swap->round)) < swap->number) /* release: the message's signal */
            return false;
        swap->round++;
        if (nodes->near.rank == 0 && 1 << swap->round < nodes->count)
            send_round(swap, swap->round);
    }
    return true;
}

void uccs_nodes_settle(const uint32_t *held)
{
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(held) != 0) /* acqrel: far_send_free */
        uccs_pause(&wait);
}

/* All have arrived, so all have finished the broadcasts before. */
static void await(struct uccs_swap *swap)
{
    struct uccs_nodes *nodes = swap->group->nodes;
    struct uccs_wait wait = {0};
    while (!advance(swap))
        uccs_pause(&wait);
    uccs_nodes_settle(&swap->held);
    nodes->settled = nodes->posted;
}

void uccs_swap_run(struct uccs_swap *swap)
{
    arrive(swap);
    await(swap);
}

void uccs_nodes_sync(struct uccs_group *group)
{
    struct uccs_swap swap;
    uccs_swap_begin(&swap, group, 0);
    uccs_swap_run(&swap);
}

void uccs_nodes_meet_begin(struct uccs_swap *swap, struct uccs_group *group)
{
    begin(swap, group, 0, 1);
    arrive(swap);
}

bool uccs_nodes_meet(struct uccs_swap *swap)
{
    return advance(swap);
}

/* One swap of a gather: of near members from .. from + window, bytes at .. at + piece. */
struct cut {
    char *all;
    size_t bytes, at, piece;
    int from, window;
};

static void copy_out(const struct uccs_swap *swap, const struct cut *cut)
{
    const struct uccs_nodes *nodes = swap->group->nodes;
    for (int node = 0; node < nodes->count; node++) {
        const char *from = uccs_swap_block(swap, node);
        char *to = cut->all + (size_t)(nodes->leads[node].rank + cut->from) * cut->bytes + cut->at;
        int members = uccs_nodes_members(nodes, node) - cut->from;
        members = members < cut->window ? members : cut->window;
        if (cut->piece == cut->bytes && members > 0)
            memcpy(to, from, (size_t)members * cut->bytes);
        for (int i = 0; cut->piece != cut->bytes && i < members; i++)
            memcpy(to + (size_t)i * cut->bytes, from + (size_t)i * cut->piece, cut->piece);
    }
}

static void gather(struct uccs_group *group, const struct cut *cut, const char *mine)
{
    struct uccs_swap swap;
    int place = group->nodes->near.rank - cut->from;
    uccs_swap_begin(&swap, group, (size_t)cut->window * cut->piece);
    if (place >= 0 && place < cut->window)
        memcpy(uccs_swap_box(&swap, 0) + (size_t)place * cut->piece, mine + cut->at, cut->piece);
    uccs_swap_run(&swap);
    copy_out(&swap, cut);
}

void uccs_nodes_gather(struct uccs_group *group, void *all, const void *mine, size_t bytes)
{
    int most = NODES_BOX / group->nodes->count, widest = group->nodes->widest;
    struct cut cut = {.all = all, .bytes = bytes, .window = widest < most ? widest : most};
    if (most == 0)
        far_fail("a team over %d nodes is too large", group->nodes->count);
    size_t share = (size_t)(most / cut.window);
    for (; cut.from < widest; cut.from += cut.window)
        for (cut.at = 0; cut.at < bytes; cut.at += cut.piece) {
            cut.piece = bytes - cut.at < share ? bytes - cut.at : share;
            gather(group, &cut, mine);
        }
}

/* --- Broadcasts through the ring ------------------------------------------------------------------------------ */

static void cast_to(struct uccs_group *group, int node, const void *data, size_t bytes, uint32_t *held)
{
    uint64_t place = group->nodes->posted % NODES_RING;
    struct uccs_far_place at = uccs_nodes_line(group, node, GROUP_RING_DATA);
    const struct uccs_far_parcel parcel = {
        .to = plus(at, place * NODES_RING_BYTES),
        .data = data,
        .bytes = bytes,
        .with = {.what = FAR_SIGNAL_SET,
                 .place = plus(uccs_nodes_line(group, node, GROUP_RING), place * sizeof(uint64_t)),
                 .value = group->nodes->posted},
    };
    uccs_far_parcel(uccs_nodes_lead_pe(group, node), &parcel, held);
}

/* A binomial tree over the nodes, counted from the root's: the farthest child, which has the most to do, first. */
static void cast_on(struct uccs_group *group, int root_node, const void *data, size_t bytes, uint32_t *held)
{
    const struct uccs_nodes *nodes = group->nodes;
    int me = (nodes->mine - root_node + nodes->count) % nodes->count, step = 1;
    while (step < nodes->count && !(me & step))
        step *= 2;
    for (step /= 2; step > 0; step /= 2)
        if (me + step < nodes->count)
            cast_to(group, (me + step + root_node) % nodes->count, data, bytes, held);
}

void uccs_nodes_cast(struct uccs_group *group, void *dest, const void *source, size_t bytes, int root)
{
    struct uccs_nodes *nodes = group->nodes;
    if (nodes->posted + 1 > nodes->settled + NODES_RING)
        uccs_nodes_sync(group);
    uint64_t number = ++nodes->posted;
    char *place = (char *)line_of(nodes, GROUP_RING_DATA) + number % NODES_RING * NODES_RING_BYTES;
    uint64_t *flag = (uint64_t *)line_of(nodes, GROUP_RING) + number % NODES_RING;
    int root_node = uccs_nodes_of(nodes, root);
    uint32_t held = 0;
    if (group->rank == root) {
        cast_on(group, root_node, source, bytes, &held);
        memcpy(place, source, nodes->near.size > 1 ? bytes : 0);
        atomic_store_release(flag, number); /* acquire: near members, below */
    } else {
        struct uccs_wait wait = {0};
        while (atomic_load_acquire(flag) < number) /* release: the message's signal, or a near root */
            uccs_pause(&wait);
        if (nodes->near.rank == 0 && root_node != nodes->mine)
            cast_on(group, root_node, place, bytes, &held);
        memcpy(dest, place, bytes);
    }
    uccs_nodes_settle(&held);
}

/* --- The last sync -------------------------------------------------------------------------------------------- */

/* Nobody but its owner looks at a row between the two meetings on the node, and after the second. */
void uccs_nodes_part(struct uccs_group *group)
{
    struct uccs_nodes *nodes = group->nodes;
    uccs_group_part(&nodes->near);
    if (nodes->near.rank == 0) {
        struct uccs_swap swap;
        uccs_swap_begin(&swap, group, 0);
        swap.arrived = true;
        send_round(&swap, 0);
        await(&swap);
    }
    uccs_group_part(&nodes->near);
}
