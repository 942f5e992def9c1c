/* Teams meet, and give each other small data. row.h says what a team is and where its data lies, near.h how its members
 * on one node meet, swap.h how whole nodes do; post.h, on top of this, how members of one node give each other data. One thread at a time per team (the standard's rule for teams); any number of teams at once. */
#ifndef UCCS_SYNC_TEAM_H
#define UCCS_SYNC_TEAM_H

#include "uccs/sync/near.h"
#include "uccs/sync/row.h"
#include "uccs/sync/swap.h"

/* Call it after rank, size, start and stride are set: finds out which member is on which node, and makes `nodes` unless
 * it is there. Returns 0, or -1 when there is no memory. */
int uccs_team_span(struct uccs_team *team);
void uccs_team_free(struct uccs_team *team);
/* Sets the slot of the team, equal at all members. */
void uccs_team_settle_in(struct uccs_team *team, int slot);

/* All members have arrived when one leaves. Every member then sees what a member stored before (release of the flag,
 * acquire by the partner, transitively). */
void uccs_team_sync(struct uccs_team *team);

/* The same in the middle of an exchange: says nothing of the posts that are still to be read. */
void uccs_team_meet(struct uccs_team *team);

/* The last sync of a team: when it returns, no other member reads my row any more (each waits at
 * flags in its own row alone). */
void uccs_team_part(struct uccs_team *team);

/* Zeroes the words of my row that say which epoch it is. */
void uccs_team_clear(struct uccs_team *team);

/* An exchange over any team with a slot: every member gives up to POST_LARGE bytes, and then looks at what the others
 * gave. Not for hot paths. */
void uccs_team_exchange(struct uccs_team *team, const void *mine, size_t bytes);
/* The bytes that `rank` gave in the last exchange. */
const void *uccs_team_given(const struct uccs_team *team, int rank, size_t bytes);

#endif
