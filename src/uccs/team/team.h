/* Members of a team meet and exchange small data; row.h defines a team and its memory, and meetings of whole nodes. slots.h, on top
 * of this file, defines the exchange of data between members on one node. One thread at a time per team (the standard's rule for teams); any number of teams at once. */
#ifndef UCCS_TEAM_TEAM_H
#define UCCS_TEAM_TEAM_H

#include "uccs/team/row.h"

#include <stdbool.h>

/* Finds the node of each member, and makes `nodes` when the team is over several nodes and has none yet. The caller has
 * set rank, size, and start and stride or pes. Returns 0, or -1 when there is no memory; the team is then free. */
int uccs_team_map_nodes(struct uccs_team *team);
/* Frees what belongs to the team, but not the struct: `nodes` and `pes`. */
void uccs_team_free(struct uccs_team *team);
/* Sets the area of the team, equal at all members. */
void uccs_team_set_area(struct uccs_team *team, int area);

/* Syncs: no member leaves before all have arrived. Every member then sees all that any member stored before (release of
 * the flag, acquire by the partner, transitively). */
void uccs_team_sync(struct uccs_team *team);

/* Runs the last sync of a team. When it returns, no other member reads the caller's row any more, because each waits at
 * flags in its own row alone. */
void uccs_team_part(struct uccs_team *team);

/* Zeroes the epochs and numbers in the caller's row. */
void uccs_team_clear(struct uccs_team *team);

/* --- Members on one node (near.c) */

/* The ways in which teams meet on this node. AUTO chooses by the numbers of PEs and cores. */
enum uccs_sync { UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT };
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
