#include "uccs/group.h"

#include "uccs/far.h"
#include "uccs/far_lane.h"
#include "uccs/memory.h"
#include "uccs/post.h"
#include "uccs/progress.h"

#include <stdlib.h>
#include <string.h>

enum uccs_sync uccs_sync_how;

static int ahead_of(const struct uccs_group *group, int distance)
{
    int to = group->rank + distance;
    return to >= group->size ? to - group->size : to;
}

/* Dissemination: in round r I tell the member 2^r ahead and hear from the one 2^r behind; after
 * log2(size) rounds everybody's arrival has reached everybody. Two members: one store, one hop. */
static void disseminate(struct uccs_group *group, uint64_t epoch)
{
    const char *mine = uccs_group_row(group, group->rank);
    for (int round = 0, ahead = 1; ahead < group->size; round++, ahead *= 2) {
        uint64_t *theirs = uccs_group_line(group, ahead_of(group, ahead), round);
        atomic_store_release(theirs, epoch); /* acquire: the load below, at its owner */
        struct uccs_wait wait = {0};
        while (atomic_load_acquire((const uint64_t *)(mine + round * CACHE_LINE)) < epoch)
            uccs_pause(&wait);
    }
}

/* One counter, one release word: with more members than cores each runs only twice per sync,
 * once to arrive and once to leave. */
static void count(struct uccs_group *group, uint64_t epoch)
{
    uint64_t *arrived = uccs_group_line(group, 0, GROUP_ARRIVED);
    uint64_t *released = uccs_group_line(group, 0, GROUP_RELEASED);
    if (atomic_fetch_add_acqrel(arrived, 1) + 1 == epoch * (uint64_t)group->size) {
        atomic_store_release(released, epoch); /* acquire: the others, below */
        return;
    }
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(released) < epoch)
        uccs_pause(&wait);
}

/* Everybody says so in its own row and looks at everybody's: one hop, size^2 looks. Line 0 has one
 * writer in either way, and a group keeps to one way but for its last sync: then the partner's
 * epoch is larger than any that the owner wrote. */
static void flat(struct uccs_group *group, uint64_t epoch)
{
    uint64_t *mine = uccs_group_line(group, group->rank, 0);
    atomic_store_release(mine, epoch); /* acquire: the loads below, at the others */
    for (int rank = 0; rank < group->size; rank++) {
        const uint64_t *theirs = uccs_group_line(group, rank, 0);
        struct uccs_wait wait = {0};
        while (atomic_load_acquire(theirs) < epoch)
            uccs_pause(&wait);
    }
}

/* Dissemination over the program's array, which is at rest again on return: a partner adds one to
 * my flag of the round, I wait for it and take it away. It can be at most one barrier ahead. */
static void disseminate_on_flags(const struct uccs_group *group)
{
    for (int round = 0, ahead = 1; ahead < group->size; round++, ahead *= 2) {
        int pe = (int)uccs_core.first + group->start + ahead_of(group, ahead) * group->stride;
        long *theirs = uccs_memory_resolve(&group->flags[round], pe);
        if (theirs)
            atomic_fetch_add_release(theirs, 1); /* acquire: the load below, at its owner */
        else
            uccs_far_amo_post(0, pe, FAR_ADD, uccs_far_place(&group->flags[round]), sizeof(long), 1, 0);
        struct uccs_wait wait = {0};
        while (atomic_load_acquire(&group->flags[round]) < 0)
            uccs_pause(&wait);
        (void)atomic_fetch_add_relaxed(&group->flags[round], -1); /* beside the partner's next one */
    }
}

static void await_line(const uint64_t *line, uint64_t epoch)
{
    struct uccs_wait wait = {0};
    while (atomic_load_acquire(line) < epoch) /* release: the partner's store, or what stores its message */
        uccs_pause(&wait);
}

void uccs_group_tell(const struct uccs_group *group, int rank, int line, uint64_t epoch)
{
    if (uccs_group_is_near(group, rank))
        atomic_store_release((uint64_t *)uccs_group_line(group, rank, line), epoch); /* acquire: await_line */
    else
        uccs_far_flag(uccs_group_pe(group, rank), uccs_group_line_offset(group, line), epoch);
}

/* Among the nodes' first members. */
static void among_leads(const struct uccs_group *group, uint64_t epoch)
{
    for (int round = 0, ahead = 1; ahead < group->nleads; round++, ahead *= 2) {
        uccs_group_tell(group, group->leads[(group->lead + ahead) % group->nleads], round, epoch);
        await_line(uccs_group_line(group, group->rank, round), epoch);
    }
}

/* Each node gathers at its first member; those disseminate; the nodes go on. */
static void by_nodes(struct uccs_group *group, uint64_t epoch)
{
    uint64_t *arrived = uccs_group_line(group, group->near_first, GROUP_ARRIVED);
    uint64_t *released = uccs_group_line(group, group->near_first, GROUP_RELEASED);
    if (group->rank != group->near_first) {
        atomic_fetch_add_release(arrived, 1); /* acquire: await_line, by the first */
        await_line(released, epoch);
        return;
    }
    await_line(arrived, epoch * (uint64_t)(group->near_count - 1));
    among_leads(group, epoch);
    atomic_store_release(released, epoch);
}

/* Every member by itself: each waits in its own row alone. Its own lines: who has left the sync before may tell me
 * this one sooner than another connection brings what I still wait for in that one. */
static void disseminate_anywhere(struct uccs_group *group, uint64_t epoch)
{
    for (int round = 0, ahead = 1; ahead < group->size; round++, ahead *= 2) {
        uccs_group_tell(group, ahead_of(group, ahead), GROUP_PART + round, epoch);
        await_line(uccs_group_line(group, group->rank, GROUP_PART + round), epoch);
    }
}

static enum uccs_sync choose(const struct uccs_group *group)
{
    if (uccs_sync_how != UCCS_SYNC_AUTO)
        return uccs_sync_how;
    if (!uccs_core.oversubscribed)
        return UCCS_SYNC_DISSEMINATE;
    return group->size == 2 ? UCCS_SYNC_DISSEMINATE : UCCS_SYNC_COUNT;
}

void uccs_group_meet(struct uccs_group *group)
{
    if (group->size == 1)
        return;
    if (group->slot < 0) {
        disseminate_on_flags(group);
        return;
    }
    if (lat_unlikely(group->far)) {
        by_nodes(group, ++group->epoch);
        return;
    }
    switch (choose(group)) {
    case UCCS_SYNC_FLAT: flat(group, ++group->epoch); break;
    case UCCS_SYNC_COUNT: count(group, ++group->epoch); break;
    default: disseminate(group, ++group->epoch);
    }
}

void uccs_group_sync(struct uccs_group *group)
{
    uccs_group_meet(group);
    group->settled = group->exchange;
}

void uccs_group_part(struct uccs_group *group)
{
    if (lat_unlikely(group->far))
        disseminate_anywhere(group, ++group->epoch);
    else
        disseminate(group, ++group->epoch);
}

static void find_leads(struct uccs_group *group)
{
    int before = -1;
    for (int rank = 0; rank < group->size; rank++) {
        int node = uccs_far_node_of(uccs_group_pe(group, rank));
        if (node == before)
            continue;
        before = node;
        if (uccs_group_is_near(group, rank))
            group->lead = group->nleads;
        group->leads[group->nleads++] = rank;
    }
}

/* PEs of a node are consecutive, so the members on one are, too. */
void uccs_group_span(struct uccs_group *group)
{
    int near = 0, first = -1;
    for (int rank = 0; uccs_far_on && rank < group->size; rank++) {
        if (!uccs_group_is_near(group, rank))
            continue;
        near++;
        first = first < 0 ? rank : first;
    }
    free(group->leads);
    group->leads = 0;
    group->nleads = 0;
    group->far = uccs_far_on && near < group->size;
    if (!group->far)
        return;
    group->near_first = first;
    group->near_count = near;
    group->leads = malloc((size_t)group->size * sizeof *group->leads);
    if (!group->leads)
        far_fail("no memory for a team of %d PEs", group->size);
    find_leads(group);
}

/* All have read the exchange before this one when they come to this one's sync, and the places are a ring. */
void uccs_group_exchange(struct uccs_group *group, const void *mine, size_t bytes)
{
    uint64_t number = uccs_post_begin(group, bytes);
    memcpy(uccs_post_room(group, bytes), mine, bytes);
    uccs_post_publish(group, bytes);
    uccs_group_meet(group);
    group->settled = number - 1;
}

const void *uccs_group_given(const struct uccs_group *group, int rank, size_t bytes, void *room)
{
    if (uccs_group_is_near(group, rank))
        return uccs_post_await(group, rank, bytes);
    const char *data = uccs_post_data(group, group->rank, bytes); /* theirs is at the same place of their row */
    uint64_t within = (uint64_t)(data - uccs_group_row(group, group->rank));
    uccs_far_get(0, uccs_group_pe(group, rank),
                 (struct uccs_far_place){FAR_ROWS, uccs_group_line_offset(group, 0) + within}, room, bytes, 0);
    return room;
}

/* The sync of the parent that follows publishes the zeroes. */
void uccs_group_clear(struct uccs_group *group)
{
    for (int line = 0; line < GROUP_POSTS; line++)
        atomic_store_relaxed((uint64_t *)uccs_group_line(group, group->rank, line), 0);
    for (int line = GROUP_SPLIT; line < NODE_GROUP_LINES; line++)
        atomic_store_relaxed((uint64_t *)uccs_group_line(group, group->rank, line), 0);
    uccs_post_clear(group);
}
