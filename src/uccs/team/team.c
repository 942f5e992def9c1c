/* Meetings of teams, and their areas; see team.h. */
#include "uccs/team/team.h"

void uccs_team_sync(struct uccs_team *team)
{
    team->settled = team->exchange;
    if (team->size == 1)
        return;
    if (team->area < 0)
        uccs_flags_meet(team);
    else if (lat_unlikely(team->far))
        uccs_nodes_sync(team);
    else
        uccs_near_meet(team);
}

void uccs_team_part(struct uccs_team *team)
{
    if (lat_unlikely(team->far))
        uccs_nodes_sync(team);
    uccs_near_part(team->far ? &team->nodes->near : team);
}

void uccs_team_set_area(struct uccs_team *team, int area)
{
    team->area = area;
    if (!team->nodes)
        return;
    team->nodes->near.area = area;
    for (int node = 0; node < team->nodes->count; node++)
        team->nodes->leads[node].area = area;
}

static void clear_line(uint64_t *words)
{
    for (size_t i = 0; i < CACHE_LINE / sizeof *words; i++)
        atomic_store_relaxed(&words[i], 0);
}

/* The parent's exchange that follows publishes the zeroes. */
void uccs_team_clear(struct uccs_team *team)
{
    for (int line = 0; line < TEAM_SLOTS + SLOT_SMALL_RING; line++)
        clear_line(uccs_team_line(team, team->rank, line));
    for (int i = 0; i < SLOT_LARGE_RING; i++)
        clear_line(uccs_team_line(team, team->rank, TEAM_SLOTS + SLOT_SMALL_RING + i * SLOT_LARGE_LINES));
    for (int line = TEAM_GATHER; line < TEAM_GATHER_DATA; line++)
        clear_line(uccs_team_line(team, team->rank, line));
}
