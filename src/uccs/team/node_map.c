/* The places of a team's members on nodes; see team.h and nodes.h. */
#include "uccs/core/memory.h"
#include "uccs/team/team.h"

#include <stdlib.h>
#include <string.h>

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
