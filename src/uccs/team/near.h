/* Meetings of the members of a team that are on one node. One thread at a time per team. */
#ifndef UCCS_TEAM_NEAR_H
#define UCCS_TEAM_NEAR_H

#include "uccs/team/row.h"

/* The ways in which teams meet on this node. AUTO chooses by the numbers of PEs and cores. */
enum uccs_sync { UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT, UCCS_SYNC_FLAT };
extern enum uccs_sync uccs_sync_how; /* only init writes it; equal on all PEs */

/* Returns true when the members should count themselves on one line. By default they do when there are more PEs than
 * cores, because each member then runs rarely, and few runs matter more than few hops. */
bool uccs_near_counts(void);

/* Meets: no member leaves before all have arrived. All members are on this node. */
void uccs_near_meet(struct uccs_team *team);
/* Meets by dissemination, whatever uccs_sync_how says. */
void uccs_near_part(struct uccs_team *team);
/* Meets a team without an area. Its members may be on any node. */
void uccs_flags_meet(const struct uccs_team *team);

#endif
