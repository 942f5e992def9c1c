/* Swaps: the nodes of a team meet and exchange blocks; see swap.h. */
#include "uccs/sync/swap.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/wait.h"
#include "uccs/sync/near.h"

enum { ARRIVED, FLAGS }; /* lines of a channel: a count, then the rounds' flags of even and of odd swaps */

static const int channels[] = {TEAM_SWAP, TEAM_SPLIT};

int uccs_nodes_lead_pe(const struct uccs_team *team, int node)
{
    return uccs_team_pe(team, uccs_nodes_rank(team->nodes, team->nodes->leads[node].place));
}

int uccs_nodes_of(const struct uccs_nodes *nodes, int rank)
{
    int low = 0, high = nodes->count, place = uccs_nodes_place(nodes, rank);
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (nodes->leads[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct uccs_far_place uccs_nodes_line(const struct uccs_team *team, int node, int line)
{
    uint64_t row = (uint64_t)team->nodes->leads[node].slot * NODE_GROUP_LINES;
    return (struct uccs_far_place){.segment = FAR_ROWS, .offset = (row + (uint64_t)line) * CACHE_LINE};
}

static int swap_mail(const struct uccs_swap *swap)
{
    return TEAM_MAIL + (int)(swap->number % 2) * NODES_BOX / CACHE_LINE;
}

char *uccs_swap_box(const struct uccs_swap *swap, int distance)
{
    return (char *)uccs_lead_line(swap->team->nodes, swap_mail(swap)) + (size_t)distance * swap->block;
}

static size_t flag_offset(const struct uccs_swap *swap, int round)
{
    return ((swap->number % 2) * TEAM_ROUNDS + (size_t)round) * sizeof(uint64_t);
}

static const uint64_t *swap_flag(const struct uccs_swap *swap, int round)
{
    const char *flags = uccs_lead_line(swap->team->nodes, channels[swap->channel] + FLAGS);
    return (const uint64_t *)(flags + flag_offset(swap, round));
}

/* Sends this node's first 2^round blocks to the node 2^round before it, which appends them to those it has. */
static void swap_send(struct uccs_swap *swap, int round)
{
    const struct uccs_team *team = swap->team;
    const struct uccs_nodes *nodes = team->nodes;
    int distance = 1 << round, missing = nodes->count - distance;
    int node = uccs_nodes_around(nodes, missing), pe = uccs_nodes_lead_pe(team, node);
    struct uccs_far_place flag =
        uccs_place_plus(uccs_nodes_line(team, node, channels[swap->channel] + FLAGS), flag_offset(swap, round));
    if (swap->block == 0) {
        uccs_far_flag(pe, flag.offset, swap->number, swap->channel == 0); /* split-phase ones may be asleep */
        return;
    }
    const struct uccs_far_parcel parcel = {
        .to = uccs_place_plus(uccs_nodes_line(team, node, swap_mail(swap)), (uint64_t)distance * swap->block),
        .data = uccs_swap_box(swap, 0),
        .bytes = (size_t)(missing < distance ? missing : distance) * swap->block,
        .with = {.what = FAR_SIGNAL_SET, .place = flag, .value = swap->number},
    };
    uccs_far_parcel(pe, &parcel, &swap->held);
}

static void swap_begin(struct uccs_swap *swap, struct uccs_team *team, size_t block, int channel)
{
    uint64_t number = ++team->nodes->swaps[channel];
    *swap = (struct uccs_swap){.team = team, .number = number, .block = block, .channel = channel};
}

void uccs_swap_begin(struct uccs_swap *swap, struct uccs_team *team, size_t block)
{
    swap_begin(swap, team, block, 0);
}

static uint64_t *swap_count(const struct uccs_swap *swap)
{
    return uccs_lead_line(swap->team->nodes, channels[swap->channel] + ARRIVED);
}

static uint64_t swap_all(const struct uccs_swap *swap)
{
    return swap->number * (uint64_t)swap->team->nodes->near.size;
}

/* Counts this member in. Each member sees what earlier ones have written, and the last one sends the first message.
 * Never waits. */
static void swap_count_in(struct uccs_swap *swap)
{
    if (atomic_fetch_add_acqrel(swap_count(swap), 1) + 1 != swap_all(swap)) /* acquire: swap_advance, by all */
        return;
    swap_send(swap, 0);
    uccs_doorbell_wake_peers(); /* messages of the other nodes may have come before */
}

/* The members on a node meet as in a job on one node. On a crowded node they only count themselves in, and the last one
 * sends: it is running, while the lead may not be. */
static void swap_arrive(struct uccs_swap *swap)
{
    struct uccs_team *near = &swap->team->nodes->near;
    if (uccs_near_counts()) {
        swap_count_in(swap);
        return;
    }
    uccs_near_meet(near);
    swap->arrived = true;
    if (near->rank == 0)
        swap_send(swap, 0);
}

/* Goes through the rounds as far as messages have come. Returns true when the swap is complete. Every member reads the
 * flags itself; only the lead sends. */
static bool swap_advance(struct uccs_swap *swap)
{
    const struct uccs_nodes *nodes = swap->team->nodes;
    if (!swap->arrived && atomic_load_acquire(swap_count(swap)) < swap_all(swap)) /* acqrel: swap_count_in */
        return false;
    swap->arrived = true;
    while (1 << swap->round < nodes->count) {
        if (atomic_load_acquire(swap_flag(swap, swap->round)) < swap->number) /* release: the message's signal */
            return false;
        swap->round++;
        if (nodes->near.rank == 0 && 1 << swap->round < nodes->count)
            swap_send(swap, swap->round);
    }
    return true;
}

void uccs_nodes_settle(const uint32_t *held)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(held) != 0) /* acqrel: link_send_free */
        uccs_pause(&wait);
}

/* Waits for the end of the swap. All members have then arrived, so all have finished earlier broadcasts. */
static void swap_await(struct uccs_swap *swap)
{
    struct uccs_nodes *nodes = swap->team->nodes;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(swap->team, swap->number)};
    while (!swap_advance(swap))
        uccs_pause(&wait);
    uccs_nodes_settle(&swap->held);
    nodes->settled = nodes->posted;
}

void uccs_swap_run(struct uccs_swap *swap)
{
    swap_arrive(swap);
    swap_await(swap);
}

void uccs_nodes_sync(struct uccs_team *team)
{
    struct uccs_swap swap;
    uccs_swap_begin(&swap, team, 0);
    uccs_swap_run(&swap);
}

void uccs_nodes_meet_begin(struct uccs_swap *swap, struct uccs_team *team)
{
    swap_begin(swap, team, 0, 1);
    swap_count_in(swap);
}

bool uccs_nodes_meet(struct uccs_swap *swap)
{
    return swap_advance(swap);
}

/* Between the two meetings on the node, and after the second, only the owner reads a row. */
void uccs_nodes_part(struct uccs_team *team)
{
    struct uccs_nodes *nodes = team->nodes;
    uccs_near_part(&nodes->near);
    if (nodes->near.rank == 0) {
        struct uccs_swap swap;
        uccs_swap_begin(&swap, team, 0);
        swap.arrived = true;
        swap_send(&swap, 0);
        swap_await(&swap);
    }
    uccs_near_part(&nodes->near);
}
