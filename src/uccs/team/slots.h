/* Slots: a member publishes small data to the others in flagged lines of its own row.
 *
 * An exchange has a number, which grows by one each time and on which all members agree because all make the same calls. A
 * member writes data and number into its slot of that exchange; a reader waits until the number is there. So data and flag
 * travel together, in one hop.
 *
 *   n = uccs_slot_begin(team, bytes);          agrees that slots can be reused (rarely by a sync)
 *   memcpy(uccs_slot_buffer(team, bytes), data, bytes);  uccs_slot_publish(team, bytes);
 *   from = uccs_slot_await(team, rank, bytes);
 *
 * Up to SLOT_SMALL bytes share a line with the number; up to SLOT_LARGE have lines of their own. Slots are rings: exchange n
 * uses the slot of exchange n - ring. Every member has finished all exchanges up to number team->settled. begin syncs when
 * settled does not cover the slot yet. A member that has read every member's slot of exchange n knows that all have finished
 * n - 1, and sets settled to n - 1. So exchanges in which every member reads all slots never sync, and one-way exchanges sync
 * once per ring.
 *
 * Invariant: settled changes by the same rule at every member, so either all sync or none. A team over several nodes has no
 * slots; its near part has. */

#ifndef UCCS_TEAM_SLOTS_H
#define UCCS_TEAM_SLOTS_H

#include "uccs/core/wait.h"
#include "uccs/team/team.h"

static inline struct uccs_slot *uccs_slot_of(const struct uccs_team *team, int rank, size_t bytes)
{
    uint64_t line = SLOT_FIRST_LINE;
    if (bytes <= SLOT_SMALL)
        line += team->exchange % SLOT_SMALL_RING;
    else
        line += SLOT_SMALL_RING + team->exchange % SLOT_LARGE_RING * SLOT_LARGE_LINES;
    return uccs_team_line(team, rank, (int)line);
}

/* Begins an exchange whose slots hold at most `bytes`, equal at all members. Returns the exchange's number. */
static inline uint64_t uccs_slot_begin(struct uccs_team *team, size_t bytes)
{
    uint64_t ring = bytes <= SLOT_SMALL ? SLOT_SMALL_RING : SLOT_LARGE_RING;
    if (lat_unlikely(team->exchange + 1 > team->settled + ring))
        uccs_team_sync(team);
    return ++team->exchange;
}

static inline void *uccs_slot_bytes(struct uccs_slot *slot, size_t bytes)
{
    return bytes <= SLOT_SMALL ? slot->data : (char *)(slot + 1);
}

/* Returns the room for the caller's data of this exchange. */
static inline void *uccs_slot_buffer(const struct uccs_team *team, size_t bytes)
{
    return uccs_slot_bytes(uccs_slot_of(team, team->rank, bytes), bytes);
}

static inline void uccs_slot_publish(const struct uccs_team *team, size_t bytes)
{
    struct uccs_slot *slot = uccs_slot_of(team, team->rank, bytes);
    atomic_store_release(&slot->number, team->exchange); /* acquire: uccs_slot_await at the others */
}

/* Returns the data of rank's slot in this exchange. The caller knows that it has been published. */
static inline const void *uccs_slot_data(const struct uccs_team *team, int rank, size_t bytes)
{
    return uccs_slot_bytes(uccs_slot_of(team, rank, bytes), bytes);
}

/* Waits for rank's slot in this exchange and returns its data. The wait is made before the first look: a look some nanoseconds
 * earlier takes the line from the peer that is writing it, and costs small collectives a fifth. */
static inline const void *uccs_slot_await(const struct uccs_team *team, int rank, size_t bytes)
{
    struct uccs_slot *slot = uccs_slot_of(team, rank, bytes);
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_pe(uccs_team_pe(team, rank))};
    while (atomic_load_acquire(&slot->number) < team->exchange) /* release: uccs_slot_publish */
        uccs_pause(&wait);
    return uccs_slot_bytes(slot, bytes);
}

#endif
