/* Allgathers: the nodes of a team meet and exchange blocks; see row.h. */
#include "uccs/core/doorbell.h"
#include "uccs/core/core.h"
#include "uccs/core/memory.h"
#include "uccs/core/wait.h"
#include "uccs/team/team.h"

#include <stdlib.h>
#include <string.h>

/* The places of a team's members on nodes; see row.h. */

/* The nodes of the members, numbered in the order in which the ranks come to them. */
struct node_map {
    int *node; /* of each rank */
    int count;
    bool grouped; /* the ranks lie node by node */
};

/* Fills `node_map`. Returns false without memory. The caller frees node_map->node. */
static bool number_nodes(const struct uccs_team *team, struct node_map *node_map)
{
    int *numbers = calloc((size_t)uccs_node_most(), sizeof *numbers); /* by node of the job; 0: not seen yet */
    int *nodes = calloc((size_t)team->size, sizeof *nodes), before = 0;
    bool done = numbers && nodes;
    *node_map = (struct node_map){.node = nodes, .grouped = true};
    for (int rank = 0; done && rank < team->size; rank++) {
        int *number = &numbers[uccs_node_of(uccs_team_pe(team, rank))];
        if (!*number)
            *number = ++node_map->count;
        nodes[rank] = *number - 1;
        node_map->grouped &= nodes[rank] >= before;
        before = nodes[rank];
    }
    free(numbers);
    return done;
}

static void find_leads(const struct uccs_team *team, const struct node_map *node_map, struct uccs_nodes *nodes)
{
    nodes->count = node_map->count;
    nodes->mine = node_map->node[team->rank];
    for (int rank = 0; rank < team->size; rank++)
        nodes->leads[node_map->node[rank] + 1].place++;
    for (int node = 0; node < nodes->count; node++)
        nodes->leads[node + 1].place += nodes->leads[node].place;
    nodes->first = nodes->leads[nodes->mine].place;
}

/* Gives places to members whose ranks do not lie node by node. Returns false without memory. */
static bool find_places(const struct uccs_team *team, const struct node_map *node_map, struct uccs_nodes *nodes)
{
    int *next = malloc((size_t)nodes->count * sizeof *next);
    nodes->order = malloc((size_t)team->size * sizeof *nodes->order);
    nodes->places = malloc((size_t)team->size * sizeof *nodes->places);
    bool done = next && nodes->order && nodes->places;
    for (int node = 0; done && node < nodes->count; node++)
        next[node] = nodes->leads[node].place;
    for (int rank = 0; done && rank < team->size; rank++) {
        nodes->places[rank] = next[node_map->node[rank]]++;
        nodes->order[nodes->places[rank]] = rank;
    }
    free(next);
    return done;
}

static void measure_nodes(struct uccs_nodes *nodes)
{
    nodes->narrowest = nodes->widest = uccs_nodes_members(nodes, 0);
    for (int node = 1; node < nodes->count; node++) {
        int members = uccs_nodes_members(nodes, node);
        nodes->widest = members > nodes->widest ? members : nodes->widest;
        nodes->narrowest = members < nodes->narrowest ? members : nodes->narrowest;
    }
}

/* Makes the team of the members on this node. Returns false without memory. */
static bool make_near(const struct uccs_team *team, struct uccs_nodes *nodes)
{
    struct uccs_team *near = &nodes->near;
    int first = uccs_nodes_rank(nodes, nodes->first);
    *near = (struct uccs_team){.rank = uccs_nodes_place(nodes, team->rank) - nodes->first,
                               .size = uccs_nodes_members(nodes, nodes->mine),
                               .start = team->start + first * team->stride,
                               .stride = team->stride};
    if (!nodes->order || near->size == 1)
        return true;
    near->pes = malloc((size_t)near->size * sizeof *near->pes);
    for (int i = 0; near->pes && i < near->size; i++)
        near->pes[i] = uccs_team_pe(team, uccs_nodes_rank(nodes, nodes->first + i));
    return near->pes;
}

int uccs_team_map_nodes(struct uccs_team *team)
{
    struct node_map node_map;
    if (team->nodes || !proto_active)
        return 0;
    bool done = number_nodes(team, &node_map);
    if (done && node_map.count > 1) {
        team->nodes = calloc(1, sizeof *team->nodes + ((size_t)node_map.count + 1) * sizeof *team->nodes->leads);
        done = team->nodes;
    }
    if (done && team->nodes) {
        find_leads(team, &node_map, team->nodes);
        measure_nodes(team->nodes);
        done = (node_map.grouped || find_places(team, &node_map, team->nodes)) && make_near(team, team->nodes);
        team->far = true;
    }
    free(node_map.node);
    if (done)
        return 0;
    uccs_team_free(team);
    return -1;
}

void uccs_team_free(struct uccs_team *team)
{
    if (team->nodes) {
        free(team->nodes->order);
        free(team->nodes->places);
        free(team->nodes->near.pes);
    }
    free(team->nodes);
    free(team->pes);
    team->nodes = 0;
    team->pes = 0;
    team->far = false;
}

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
    return atomic_load_acquire(&gather->held) == 0; /* acqrel: proto_send_free */
}

/* All members have arrived, so all have finished earlier broadcasts. */
void uccs_node_depart(struct uccs_node_allgather *gather)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_team(gather->team, gather->number)};
    while (atomic_load_acquire(&gather->held) != 0) /* acqrel: proto_send_free */
        uccs_pause(&wait);
    gather->team->nodes->settled = gather->team->nodes->posted;
}

static void uccs_node_allgather_run(struct uccs_node_allgather *gather)
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
