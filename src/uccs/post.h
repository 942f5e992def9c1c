/* Posts: small data that a member of a group lays open for the others, in lines of its own row.
 *
 * An exchange has a number, which grows by one each time and on which all members agree because
 * all make the same calls. A member writes data and number into its place of that exchange; a reader
 * waits until the number is there. So data travels with the flag: one hop.
 *
 *   n = uccs_post_begin(group, bytes);         agree that places can be reused (rarely: a sync)
 *   memcpy(uccs_post_room(group, bytes), data, bytes);  uccs_post_publish(group, bytes);
 *   from = uccs_post_await(group, rank, bytes);
 *
 * Up to POST_SMALL bytes share a line with the number; up to POST_LARGE have a place of their own. Places
 * are rings: the place of exchange n is that of n - ring. group->settled says up to which number every
 * member has finished; begin syncs where that does not yet cover the place. Who has read every
 * member's post of exchange n knows that all have finished n - 1, and says so in settled; so exchanges in
 * which everybody reads everybody never sync, and one-way ones sync once per ring.
 *
 * Invariant: settled changes by the same rule at every member, so that all sync or none does.
 * One thread at a time per group, as for all of a group. */
#ifndef UCCS_POST_H
#define UCCS_POST_H

#include "uccs/group.h"
#include "uccs/core/wait.h"

enum {
    POST_SMALL = 56,
    POST_LARGE = 4096,
    POST_SMALL_RING = 16,
    POST_LARGE_RING = 4,
    POST_FIRST_LINE = GROUP_POSTS,
    POST_LARGE_LINES = 1 + POST_LARGE / CACHE_LINE
};

/* The data comes first: it is aligned for every type. */
struct uccs_post {
    cache_aligned char data[POST_SMALL];
    uint64_t number; /* release by the owner, acquire by the readers */
};
_Static_assert(sizeof(struct uccs_post) == CACHE_LINE, "one line");
_Static_assert(POST_FIRST_LINE + POST_SMALL_RING + POST_LARGE_RING * POST_LARGE_LINES <= GROUP_SWAP,
               "a row holds its posts");

static inline struct uccs_post *uccs_post_place(const struct uccs_group *group, int rank, size_t bytes)
{
    uint64_t line = POST_FIRST_LINE;
    if (bytes <= POST_SMALL)
        line += group->exchange % POST_SMALL_RING;
    else
        line += POST_SMALL_RING + group->exchange % POST_LARGE_RING * POST_LARGE_LINES;
    return uccs_group_line(group, rank, (int)line);
}

/* Begins an exchange whose posts hold at most `bytes`, equal at all members; its number. */
static inline uint64_t uccs_post_begin(struct uccs_group *group, size_t bytes)
{
    uint64_t ring = bytes <= POST_SMALL ? POST_SMALL_RING : POST_LARGE_RING;
    if (lat_unlikely(group->exchange + 1 > group->settled + ring))
        uccs_group_sync(group);
    return ++group->exchange;
}

/* Where my data of this exchange goes. */
static inline void *uccs_post_room(const struct uccs_group *group, size_t bytes)
{
    struct uccs_post *place = uccs_post_place(group, group->rank, bytes);
    return bytes <= POST_SMALL ? place->data : (char *)(place + 1);
}

static inline void uccs_post_publish(const struct uccs_group *group, size_t bytes)
{
    struct uccs_post *place = uccs_post_place(group, group->rank, bytes);
    atomic_store_release(&place->number, group->exchange); /* acquire: uccs_post_await at the others */
}

/* The data of the post of `rank` in this exchange, which is known to be there. */
static inline const void *uccs_post_data(const struct uccs_group *group, int rank, size_t bytes)
{
    const struct uccs_post *place = uccs_post_place(group, rank, bytes);
    return bytes <= POST_SMALL ? place->data : (const char *)(place + 1);
}

/* Waits for the post of `rank` in this exchange; its data. */
static inline const void *uccs_post_await(const struct uccs_group *group, int rank, size_t bytes)
{
    const struct uccs_post *place = uccs_post_place(group, rank, bytes);
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(&place->number) < group->exchange)
        uccs_pause(&wait);
    return bytes <= POST_SMALL ? place->data : (const char *)(place + 1);
}

/* For uccs_group_clear. */
static inline void uccs_post_clear(const struct uccs_group *group)
{
    for (int i = 0; i < POST_SMALL_RING; i++) {
        struct uccs_post *place = uccs_group_line(group, group->rank, POST_FIRST_LINE + i);
        atomic_store_relaxed(&place->number, 0);
    }
    for (int i = 0; i < POST_LARGE_RING; i++) {
        int line = POST_FIRST_LINE + POST_SMALL_RING + i * POST_LARGE_LINES;
        struct uccs_post *place = uccs_group_line(group, group->rank, line);
        atomic_store_relaxed(&place->number, 0);
    }
}

#endif
