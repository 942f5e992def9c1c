/* Meetings of teams, and the places of their members on nodes; see team.h. */
#include "uccs/sync/team.h"

#include "uccs/core/memory.h"

#include <stdlib.h>

void uccs_team_meet(struct uccs_team *team)
{
    if (team->size == 1)
        return;
    if (team->slot < 0)
        uccs_flags_meet(team);
    else if (lat_unlikely(team->far))
        uccs_nodes_sync(team);
    else
        uccs_near_meet(team);
}

void uccs_team_sync(struct uccs_team *team)
{
    uccs_team_meet(team);
    team->settled = team->exchange;
}

void uccs_team_part(struct uccs_team *team)
{
    if (lat_unlikely(team->far))
        uccs_nodes_part(team);
    else
        uccs_near_part(team);
}

/* Counts the nodes of a team. The PEs of a node are consecutive, so the members on it are consecutive, too. */
static int count_nodes(const struct uccs_team *team)
{
    int count = 0, before = -1;
    for (int rank = 0; rank < team->size; rank++) {
        int node = uccs_node_of(uccs_team_pe(team, rank));
        count += node != before;
        before = node;
    }
    return count;
}

static void find_leads(const struct uccs_team *team, struct uccs_nodes *nodes)
{
    int before = -1;
    for (int rank = 0; rank < team->size; rank++) {
        int node = uccs_node_of(uccs_team_pe(team, rank));
        if (node == before)
            continue;
        before = node;
        if (uccs_team_is_near(team, rank))
            nodes->mine = nodes->count;
        nodes->leads[nodes->count++].rank = rank;
    }
    nodes->leads[nodes->count].rank = team->size;
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

int uccs_team_span(struct uccs_team *team)
{
    if (team->nodes || !uccs_far_on)
        return 0;
    int count = count_nodes(team);
    if (count == 1)
        return 0;
    struct uccs_nodes *nodes = calloc(1, sizeof *nodes + ((size_t)count + 1) * sizeof *nodes->leads);
    if (!nodes)
        return -1;
    find_leads(team, nodes);
    measure_nodes(nodes);
    nodes->first = nodes->leads[nodes->mine].rank;
    nodes->near = (struct uccs_team){.rank = team->rank - nodes->first,
                                     .size = uccs_nodes_members(nodes, nodes->mine),
                                     .start = team->start + nodes->first * team->stride,
                                     .stride = team->stride};
    team->nodes = nodes;
    team->far = true;
    return 0;
}

void uccs_team_free(struct uccs_team *team)
{
    if (team->nodes)
        free(team->nodes->given);
    free(team->nodes);
    team->nodes = 0;
}

void uccs_team_settle_in(struct uccs_team *team, int slot)
{
    team->slot = slot;
    if (!team->nodes)
        return;
    team->nodes->near.slot = slot;
    for (int node = 0; node < team->nodes->count; node++)
        team->nodes->leads[node].slot = slot;
}

static void clear_line(uint64_t *words)
{
    for (size_t i = 0; i < CACHE_LINE / sizeof *words; i++)
        atomic_store_relaxed(&words[i], 0);
}

static void clear_posts(const struct uccs_team *team)
{
    for (int i = 0; i < POST_SMALL_RING; i++) {
        struct uccs_post *place = uccs_team_line(team, team->rank, POST_FIRST_LINE + i);
        atomic_store_relaxed(&place->number, 0);
    }
    for (int i = 0; i < POST_LARGE_RING; i++) {
        int line = POST_FIRST_LINE + POST_SMALL_RING + i * POST_LARGE_LINES;
        struct uccs_post *place = uccs_team_line(team, team->rank, line);
        atomic_store_relaxed(&place->number, 0);
    }
}

/* The parent's sync that follows publishes the zeroes. */
void uccs_team_clear(struct uccs_team *team)
{
    for (int line = 0; line < TEAM_POSTS; line++)
        atomic_store_relaxed((uint64_t *)uccs_team_line(team, team->rank, line), 0);
    for (int line = TEAM_SWAP; line < TEAM_MAIL; line++)
        clear_line(uccs_team_line(team, team->rank, line));
    clear_posts(team);
}
