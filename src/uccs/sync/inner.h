/* Functions that the files of this folder share. */
#ifndef UCCS_SYNC_INNER_H
#define UCCS_SYNC_INNER_H

#include "uccs/sync/team.h"

/* True when few runs count more than few hops, as there are more PEs than cores: then the members count themselves on
 * one line. */
bool uccs_near_counts(void);

/* All members, who are on this node, have arrived when one leaves. */
void uccs_near_meet(struct uccs_team *team);
/* The same by dissemination in any case. */
void uccs_near_part(struct uccs_team *team);
/* The same for a team without a slot, whose members may be on any node. */
void uccs_flags_meet(const struct uccs_team *team);

/* A line of the lead of my node. */
static inline void *uccs_lead_line(const struct uccs_nodes *nodes, int line)
{
    return uccs_team_line(&nodes->near, 0, line);
}

static inline struct uccs_far_place uccs_place_plus(struct uccs_far_place place, uint64_t bytes)
{
    place.offset += bytes;
    return place;
}

/* The last meeting of a team over several nodes. */
void uccs_nodes_part(struct uccs_team *team);

#endif
