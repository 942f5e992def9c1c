/* Exchanges of small data among the members of any team; see team.h. */
#include "uccs/team/slots.h"

#include "uccs/core/fail.h"
#include "uccs/core/wait.h"

#include <stdlib.h>
#include <string.h>

void uccs_slot_wait(const struct uccs_team *team, int rank, const struct uccs_slot *slot)
{
    const uint64_t number = team->exchange;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_pe(uccs_team_pe(team, rank))};
    while (atomic_load_acquire(&slot->number) < number) /* release: uccs_slot_publish */
        uccs_pause(&wait);
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
