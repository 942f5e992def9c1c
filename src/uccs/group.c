#include "uccs/group.h"

#include "uccs/far.h"
#include "uccs/far_lane.h"
#include "uccs/core/memory.h"
#include "uccs/nodes.h"
#include "uccs/post.h"
#include "uccs/core/wait.h"

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
            uccs_far_amo_post(0, pe, FAR_ADD, uccs_far_place(&group->flags[round]), sizeof(long), 1, 0, 0);
        struct uccs_wait wait = {0};
        while (atomic_load_acquire(&group->flags[round]) < 0)
            uccs_pause(&wait);
        (void)atomic_fetch_add_relaxed(&group->flags[round], -1); /* beside the partner's next one */
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
        uccs_nodes_sync(group);
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
        uccs_nodes_part(group);
    else
        disseminate(group, ++group->epoch);
}

/* PEs of a node are consecutive, so the members on one are, too. */
static int count_nodes(const struct uccs_group *group)
{
    int count = 0, before = -1;
    for (int rank = 0; rank < group->size; rank++) {
        int node = uccs_node_of(uccs_group_pe(group, rank));
        count += node != before;
        before = node;
    }
    return count;
}

static void find_leads(const struct uccs_group *group, struct uccs_nodes *nodes)
{
    int before = -1;
    for (int rank = 0; rank < group->size; rank++) {
        int node = uccs_node_of(uccs_group_pe(group, rank));
        if (node == before)
            continue;
        before = node;
        if (uccs_group_is_near(group, rank))
            nodes->mine = nodes->count;
        nodes->leads[nodes->count++].rank = rank;
    }
    nodes->leads[nodes->count].rank = group->size;
}

static void measure(struct uccs_nodes *nodes)
{
    nodes->narrowest = nodes->widest = uccs_nodes_members(nodes, 0);
    for (int node = 1; node < nodes->count; node++) {
        int members = uccs_nodes_members(nodes, node);
        nodes->widest = members > nodes->widest ? members : nodes->widest;
        nodes->narrowest = members < nodes->narrowest ? members : nodes->narrowest;
    }
}

int uccs_group_span(struct uccs_group *group)
{
    if (group->nodes || !uccs_far_on)
        return 0;
    int count = count_nodes(group);
    if (count == 1)
        return 0;
    struct uccs_nodes *nodes = calloc(1, sizeof *nodes + ((size_t)count + 1) * sizeof *nodes->leads);
    if (!nodes)
        return -1;
    find_leads(group, nodes);
    measure(nodes);
    nodes->first = nodes->leads[nodes->mine].rank;
    nodes->near = (struct uccs_group){.rank = group->rank - nodes->first,
                                      .size = uccs_nodes_members(nodes, nodes->mine),
                                      .start = group->start + nodes->first * group->stride,
                                      .stride = group->stride};
    group->nodes = nodes;
    group->far = true;
    return 0;
}

void uccs_group_free(struct uccs_group *group)
{
    if (group->nodes)
        free(group->nodes->given);
    free(group->nodes);
    group->nodes = 0;
}

void uccs_group_settle_in(struct uccs_group *group, int slot)
{
    group->slot = slot;
    if (!group->nodes)
        return;
    group->nodes->near.slot = slot;
    for (int node = 0; node < group->nodes->count; node++)
        group->nodes->leads[node].slot = slot;
}

static void exchange_far(struct uccs_group *group, const void *mine, size_t bytes)
{
    struct uccs_nodes *nodes = group->nodes;
    free(nodes->given);
    nodes->given = malloc((size_t)group->size * bytes);
    if (!nodes->given)
        far_fail("no memory for %zu bytes of each of %d PEs", bytes, group->size);
    uccs_nodes_gather(group, nodes->given, mine, bytes);
}

/* All have read the exchange before this one when they come to this one's sync, and the places are a ring. */
void uccs_group_exchange(struct uccs_group *group, const void *mine, size_t bytes)
{
    if (group->far) {
        exchange_far(group, mine, bytes);
        return;
    }
    uint64_t number = uccs_post_begin(group, bytes);
    memcpy(uccs_post_room(group, bytes), mine, bytes);
    uccs_post_publish(group, bytes);
    uccs_group_meet(group);
    group->settled = number - 1;
}

const void *uccs_group_given(const struct uccs_group *group, int rank, size_t bytes)
{
    if (group->far)
        return group->nodes->given + (size_t)rank * bytes;
    return uccs_post_await(group, rank, bytes);
}

static void clear_line(uint64_t *words)
{
    for (size_t i = 0; i < CACHE_LINE / sizeof *words; i++)
        atomic_store_relaxed(&words[i], 0);
}

/* The sync of the parent that follows publishes the zeroes. */
void uccs_group_clear(struct uccs_group *group)
{
    for (int line = 0; line < GROUP_POSTS; line++)
        atomic_store_relaxed((uint64_t *)uccs_group_line(group, group->rank, line), 0);
    for (int line = GROUP_SWAP; line < GROUP_MAIL; line++)
        clear_line(uccs_group_line(group, group->rank, line));
    uccs_post_clear(group);
}
