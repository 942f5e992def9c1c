/* Meetings of teams, the slots that they hold, and exchanges of small data among the members of any team; see team.h. */
#include "uccs/core/fail.h"
#include "uccs/team/slots.h"

#include <stdlib.h>
#include <string.h>

void uccs_team_meet(struct uccs_team *team)
{
    if (team->size == 1)
        return;
    if (team->area < 0)
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

static void clear_posts(const struct uccs_team *team)
{
    for (int i = 0; i < SLOT_SMALL_RING; i++) {
        struct uccs_slot *place = uccs_team_line(team, team->rank, SLOT_FIRST_LINE + i);
        atomic_store_relaxed(&place->number, 0);
    }
    for (int i = 0; i < SLOT_LARGE_RING; i++) {
        int line = SLOT_FIRST_LINE + SLOT_SMALL_RING + i * SLOT_LARGE_LINES;
        struct uccs_slot *place = uccs_team_line(team, team->rank, line);
        atomic_store_relaxed(&place->number, 0);
    }
}

/* The parent's sync that follows publishes the zeroes. */
void uccs_team_clear(struct uccs_team *team)
{
    for (int line = 0; line < TEAM_SLOTS; line++)
        clear_line(uccs_team_line(team, team->rank, line));
    for (int line = TEAM_GATHER; line < TEAM_GATHER_DATA; line++)
        clear_line(uccs_team_line(team, team->rank, line));
    clear_posts(team);
}

static void exchange_far(struct uccs_team *team, const void *mine, size_t bytes)
{
    struct uccs_nodes *nodes = team->nodes;
    free(nodes->given);
    nodes->given = malloc((size_t)team->size * bytes);
    if (!nodes->given)
        uccs_fail("no memory for %zu bytes of each of %d PEs", bytes, team->size);
    uccs_nodes_allgather(team, nodes->given, mine, bytes);
}

/* Every member that reaches this exchange's sync has read the exchange before it. The places form a ring, so a member
 * may still read this exchange while another writes the next. */
void uccs_team_exchange(struct uccs_team *team, const void *mine, size_t bytes)
{
    if (team->far) {
        exchange_far(team, mine, bytes);
        return;
    }
    uint64_t number = uccs_slot_begin(team, bytes);
    memcpy(uccs_slot_buffer(team, bytes), mine, bytes);
    uccs_slot_publish(team, bytes);
    uccs_team_meet(team);
    team->settled = number - 1;
}

const void *uccs_team_given(const struct uccs_team *team, int rank, size_t bytes)
{
    if (team->far)
        return team->nodes->given + (size_t)rank * bytes;
    return uccs_slot_await(team, rank, bytes);
}
