/* Allgathers: the nodes of a team meet and exchange blocks; see nodes.h. */
#include "uccs/team/nodes.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/fail.h"
#include "uccs/core/wait.h"
#include "uccs/team/team.h"

#include <string.h>

enum { ARRIVED, FLAGS }; /* lines of a channel: a count, then the rounds' flags of even and of odd allgathers */

static const int channels[] = {TEAM_GATHER, TEAM_SPLIT};

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

struct proto_address uccs_nodes_line(const struct uccs_team *team, int node, int line)
{
    uint64_t row = (uint64_t)team->nodes->leads[node].area * NODE_GROUP_LINES;
    return (struct proto_address){.segment = PROTO_ROWS, .offset = (row + (uint64_t)line) * CACHE_LINE};
}

static int allgather_mail(const struct uccs_node_allgather *gather)
{
    return TEAM_GATHER_DATA + (int)(gather->number % 2) * NODES_GATHER_BYTES / CACHE_LINE;
}

char *uccs_node_allgather_buffer(const struct uccs_node_allgather *gather, int distance)
{
    return (char *)uccs_lead_line(gather->team->nodes, allgather_mail(gather)) + (size_t)distance * gather->block;
}

static size_t flag_offset(const struct uccs_node_allgather *gather, int round)
{
    return ((gather->number % 2) * TEAM_ROUNDS + (size_t)round) * sizeof(uint64_t);
}

static const uint64_t *allgather_flag(const struct uccs_node_allgather *gather, int round)
{
    const char *flags = uccs_lead_line(gather->team->nodes, channels[gather->channel] + FLAGS);
    return (const uint64_t *)(flags + flag_offset(gather, round));
}

void uccs_node_send(struct uccs_node_allgather *gather, int node, int round, size_t at, const void *from, size_t bytes)
{
    const struct uccs_team *team = gather->team;
    const struct proto_address flag =
        uccs_place_plus(uccs_nodes_line(team, node, channels[gather->channel] + FLAGS), flag_offset(gather, round));
    const struct proto_notify set = {.what = PROTO_SIGNAL_SET, .place = flag, .value = gather->number};
    uccs_nodes_put(uccs_nodes_lead_pe(team, node),
                   uccs_place_plus(uccs_nodes_line(team, node, allgather_mail(gather)), at), from, bytes, &set,
                   &gather->held);
}

/* Sends this node's first 2^round blocks to the node 2^round before it, which appends them to those it has. */
static void allgather_send(struct uccs_node_allgather *gather, int round)
{
    const int distance = 1 << round, missing = gather->team->nodes->count - distance;
    uccs_node_send(gather, uccs_nodes_around(gather->team->nodes, missing), round, (size_t)distance * gather->block,
                   uccs_node_allgather_buffer(gather, 0),
                   (size_t)(missing < distance ? missing : distance) * gather->block);
}

void uccs_node_allgather_begin(struct uccs_node_allgather *gather, struct uccs_team *team, size_t block, int channel)
{
    uint64_t number = ++team->nodes->allgathers[channel];
    *gather = (struct uccs_node_allgather){.team = team, .number = number, .block = block, .channel = channel};
}

static uint64_t *allgather_count(const struct uccs_node_allgather *gather)
{
    return uccs_lead_line(gather->team->nodes, channels[gather->channel] + ARRIVED);
}

static uint64_t allgather_all(const struct uccs_node_allgather *gather)
{
    return gather->number * (uint64_t)gather->team->nodes->near.size;
}

/* Counts this member in. Each member sees what earlier ones have written. Returns true to the last one. Never waits. */
static bool allgather_count_in(struct uccs_node_allgather *gather)
{
    if (atomic_fetch_add_acqrel(allgather_count(gather), 1) + 1 !=
        allgather_all(gather)) /* acquire: uccs_node_has, by all */
        return false;
    uccs_doorbell_wake_peers(); /* messages of the other nodes may have come before */
    return true;
}

bool uccs_node_has(struct uccs_node_allgather *gather, int round)
{
    if (!gather->arrived) /* acqrel: allgather_count_in */
        gather->arrived = atomic_load_acquire(allgather_count(gather)) >= allgather_all(gather);
    return gather->arrived &&
           atomic_load_acquire(allgather_flag(gather, round)) >= gather->number; /* release: the message's signal */
}

/* The members on a node meet as in a job on one node. On a crowded node they only count themselves in, and the last one
 * sends: it is running, while the lead may not be. */
bool uccs_node_arrive(struct uccs_node_allgather *gather)
{
    struct uccs_team *near = &gather->team->nodes->near;
    if (!uccs_near_counts()) {
        uccs_near_meet(near);
        gather->arrived = true;
        return near->rank == 0;
    }
    return allgather_count_in(gather);
}

/* Every member reads the flags itself; only the lead sends. */
bool uccs_nodes_meet(struct uccs_node_allgather *gather)
{
    const struct uccs_nodes *nodes = gather->team->nodes;
    while (1 << gather->round < nodes->count) {
        if (!uccs_node_has(gather, gather->round))
            return false;
        gather->round++;
        if (nodes->near.rank == 0 && 1 << gather->round < nodes->count)
            allgather_send(gather, gather->round);
    }
    return true;
}

/* All members have arrived, so all have finished earlier broadcasts. */
void uccs_node_depart(struct uccs_node_allgather *gather)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(gather->team, gather->number)};
    while (atomic_load_acquire(&gather->held) != 0) /* acqrel: proto_send_free */
        uccs_pause(&wait);
    gather->team->nodes->settled = gather->team->nodes->posted;
}

void uccs_node_allgather_run(struct uccs_node_allgather *gather)
{
    if (uccs_node_arrive(gather))
        allgather_send(gather, 0);
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(gather->team, gather->number)};
    while (!uccs_nodes_meet(gather))
        uccs_pause(&wait);
    uccs_node_depart(gather);
}

void uccs_nodes_sync(struct uccs_team *team)
{
    struct uccs_node_allgather gather;
    uccs_node_allgather_begin(&gather, team, 0, 0);
    uccs_node_allgather_run(&gather);
}

void uccs_nodes_meet_begin(struct uccs_node_allgather *gather, struct uccs_team *team)
{
    uccs_node_allgather_begin(gather, team, 0, 1);
    if (allgather_count_in(gather))
        allgather_send(gather, 0);
}

/* --- Data of all members */

/* Gathers `n` units, from unit `at` on, of the near members with the indices from .. from + window. */
static void gather_some(const struct uccs_gather *all, size_t at, size_t n, int from, int window)
{
    struct uccs_team *team = all->team;
    const struct uccs_nodes *nodes = team->nodes;
    const size_t bytes = n * all->unit;
    const int mine = nodes->near.rank - from;
    struct uccs_node_allgather gather;
    uccs_node_allgather_begin(&gather, team, (size_t)window * bytes, 0);
    if (mine >= 0 && mine < window)
        all->give(all->what, uccs_node_allgather_buffer(&gather, 0) + (size_t)mine * bytes, at, n);
    uccs_node_allgather_run(&gather);
    for (int rank = 0; rank < team->size; rank++) {
        const int node = uccs_nodes_of(nodes, rank), behind = node - nodes->mine;
        const int index = uccs_nodes_place(nodes, rank) - nodes->leads[node].place - from;
        const char *block = uccs_node_allgather_buffer(&gather, behind < 0 ? behind + nodes->count : behind);
        if (index >= 0 && index < window)
            all->take(all->what, block + (size_t)index * bytes, rank, at, n);
    }
}

void uccs_nodes_gather(const struct uccs_gather *all)
{
    const struct uccs_nodes *nodes = all->team->nodes;
    const size_t most = NODES_GATHER_BYTES / (size_t)nodes->count / all->unit;
    const int widest = nodes->widest, window = (size_t)widest < most ? widest : (int)most;
    if (most == 0)
        uccs_fail("a team over %d nodes is too large", nodes->count);
    const size_t share = most / (size_t)window;
    for (int from = 0; from < widest; from += window)
        for (size_t at = 0; at < all->n; at += share)
            gather_some(all, at, all->n - at < share ? all->n - at : share, from, window);
}

/* Bytes of all members. */
struct vector {
    char *all;
    const char *mine;
    size_t bytes;
};

static void give_bytes(const void *what, char *to, size_t at, size_t n)
{
    memcpy(to, ((const struct vector *)what)->mine + at, n);
}

static void take_bytes(const void *what, const char *from, int rank, size_t at, size_t n)
{
    const struct vector *vector = what;
    memcpy(vector->all + (size_t)rank * vector->bytes + at, from, n);
}

void uccs_nodes_allgather(struct uccs_team *team, void *all, const void *mine, size_t bytes)
{
    const struct vector vector = {all, mine, bytes};
    uccs_nodes_gather(&(struct uccs_gather){team, 1, bytes, &vector, give_bytes, take_bytes});
}
