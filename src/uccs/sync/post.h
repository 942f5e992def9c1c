/* Posts: small data that a member lays open for the others, in lines of its own row.
 *
 * An exchange has a number, which grows by one each time and on which all members agree because
 * all make the same calls. A member writes data and number into its place of that exchange; a reader
 * waits until the number is there. So data travels with the flag: one hop.
 *
 *   n = uccs_post_begin(team, bytes);          agree that places can be reused (rarely: a sync)
 *   memcpy(uccs_post_room(team, bytes), data, bytes);  uccs_post_publish(team, bytes);
 *   from = uccs_post_await(team, rank, bytes);
 *
 * Up to POST_SMALL bytes share a line with the number; up to POST_LARGE have a place of their own. Places
 * are rings: exchange n uses the place of exchange n - ring. team->settled says up to which number every
 * member has finished; begin syncs where that does not yet cover the place. A member that has read every
 * member's post of exchange n knows that all have finished n - 1, and says so in settled. So exchanges in
 * which every member reads all posts never sync, and one-way ones sync once per ring.
 *
 * Invariant: settled changes by the same rule at every member, so either all sync or none. Posts are not for teams
 * over several nodes but for their near parts. */

#ifndef UCCS_SYNC_POST_H
#define UCCS_SYNC_POST_H

#include "uccs/core/wait.h"
#include "uccs/sync/team.h"

static inline struct uccs_post *uccs_post_place(const struct uccs_team *team, int rank, size_t bytes)
{
    uint64_t line = POST_FIRST_LINE;
    if (bytes <= POST_SMALL)
        line += team->exchange % POST_SMALL_RING;
    else
        line += POST_SMALL_RING + team->exchange % POST_LARGE_RING * POST_LARGE_LINES;
    return uccs_team_line(team, rank, (int)line);
}

/* Begins an exchange whose posts hold at most `bytes`, equal at all members; returns its number. */
static inline uint64_t uccs_post_begin(struct uccs_team *team, size_t bytes)
{
    uint64_t ring = bytes <= POST_SMALL ? POST_SMALL_RING : POST_LARGE_RING;
    if (lat_unlikely(team->exchange + 1 > team->settled + ring))
        uccs_team_sync(team);
    return ++team->exchange;
}

/* Where my data of this exchange goes. */
static inline void *uccs_post_room(const struct uccs_team *team, size_t bytes)
{
    struct uccs_post *place = uccs_post_place(team, team->rank, bytes);
    return bytes <= POST_SMALL ? place->data : (char *)(place + 1);
}

static inline void uccs_post_publish(const struct uccs_team *team, size_t bytes)
{
    struct uccs_post *place = uccs_post_place(team, team->rank, bytes);
    atomic_store_release(&place->number, team->exchange); /* acquire: uccs_post_await at the others */
}

/* The data of the post of `rank` in this exchange, which is known to be there. */
static inline const void *uccs_post_data(const struct uccs_team *team, int rank, size_t bytes)
{
    const struct uccs_post *place = uccs_post_place(team, rank, bytes);
    return bytes <= POST_SMALL ? place->data : (const char *)(place + 1);
}

/* Waits for the post of `rank` in this exchange; returns its data. */
static inline const void *uccs_post_await(const struct uccs_team *team, int rank, size_t bytes)
{
    const struct uccs_post *place = uccs_post_place(team, rank, bytes);
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(&place->number) < team->exchange)
        uccs_pause(&wait);
    return bytes <= POST_SMALL ? place->data : (const char *)(place + 1);
}

#endif
