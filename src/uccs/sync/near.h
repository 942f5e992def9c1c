/* How the members of a team who are on one node meet. One thread at a time per team. */
#ifndef UCCS_SYNC_NEAR_H
#define UCCS_SYNC_NEAR_H

#include "uccs/sync/row.h"

/* How teams meet on this node; AUTO looks at the PEs and the cores. */
enum uccs_sync { UCCS_SYNC_AUTO, UCCS_SYNC_DISSEMINATE, UCCS_SYNC_COUNT, UCCS_SYNC_FLAT };
extern enum uccs_sync uccs_sync_how; /* written by init alone, equal on all PEs */

/* True when few runs count more than few hops, as there are more PEs than cores: then the members count themselves on
 * one line. */
bool uccs_near_counts(void);

/* All members, who are on this node, have arrived when one leaves. */
void uccs_near_meet(struct uccs_team *team);
/* The same by dissemination in any case. */
void uccs_near_part(struct uccs_team *team);
/* The same for a team without a slot, whose members may be on any node. */
void uccs_flags_meet(const struct uccs_team *team);

#endif
