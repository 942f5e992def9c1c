/* Public groups; see coll.h. */
#include "uccs/coll/inner.h"

#include "base/atomic.h"
#include "uccs/core/core.h"

#include <stdlib.h>

static struct uccs_group_impl world, library = {.number = UINT64_MAX};

void uccs_ranks_open(void)
{
    world.rank = library.rank = uccs_core.me;
    world.size = library.size = uccs_core.npes;
}

struct uccs_group_impl *uccs_group_of(uccs_group_t group)
{
    return group == UCCS_GROUP_WORLD ? &world : group;
}

struct uccs_group_impl *uccs_ranks_library(void)
{
    return &library;
}

/* Returns null for a null group, and for the world outside of a life. */
static const struct uccs_group_impl *find_members(uccs_group_t group)
{
    return group && (group != UCCS_GROUP_WORLD || uccs_running()) ? uccs_group_of(group) : 0;
}

int uccs_group_rank(uccs_group_t group)
{
    const struct uccs_group_impl *members = find_members(group);
    return members ? members->rank : -1;
}

int uccs_group_size(uccs_group_t group)
{
    const struct uccs_group_impl *members = find_members(group);
    return members ? members->size : -1;
}

int uccs_group_world_rank(uccs_group_t group, int rank)
{
    const struct uccs_group_impl *members = find_members(group);
    if (!members || rank < 0 || rank >= members->size)
        return -1;
    return uccs_ranks_world(members, rank);
}

int uccs_ranks_find(uccs_group_t group, int pe)
{
    const struct uccs_group_impl *members = group ? uccs_group_of(group) : 0;
    for (int rank = 0; members && rank < members->size; rank++)
        if (uccs_ranks_world(members, rank) == pe)
            return rank;
    return -1;
}

/* Spreads a number over all bits (the finaliser of MurmurHash3). */
static uint64_t mix_bits(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* Returns UCCS_ERR_INVALID when a rank is out of range or occurs twice, UCCS_ERR_NO_MEMORY when it cannot tell. */
static int check_ranks(const struct uccs_group_impl *parent, size_t n, const int *ranks)
{
    unsigned char *seen = calloc((size_t)parent->size, 1);
    if (!seen)
        return UCCS_ERR_NO_MEMORY;
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = ranks[i] >= 0 && ranks[i] < parent->size && !seen[ranks[i]]++;
    free(seen);
    return good ? UCCS_OK : UCCS_ERR_INVALID;
}

/* Returns a group that has no number yet; null without memory. */
static struct uccs_group_impl *make_group(uccs_group_t parent, size_t n, const int *ranks)
{
    struct uccs_group_impl *group = malloc(sizeof *group + n * sizeof(int));
    if (!group)
        return 0;
    int *members = (int *)(group + 1);
    *group = (struct uccs_group_impl){.users = 1, .rank = -1, .size = (int)n, .world = members};
    for (size_t i = 0; i < n; i++) {
        members[i] = uccs_group_world_rank(parent, ranks[i]);
        if (members[i] == uccs_core.me)
            group->rank = (int)i;
    }
    return group;
}

int uccs_group_create(uccs_group_t parent, size_t n, const int *ranks, uccs_group_t *group)
{
    struct uccs_group_impl *from = parent ? uccs_group_of(parent) : 0;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!from || !group || n == 0 || !ranks)
        return UCCS_ERR_INVALID;
    const int status = check_ranks(from, n, ranks);
    if (status != UCCS_OK)
        return status;
    struct uccs_group_impl *made = make_group(parent, n, ranks);
    if (!made)
        return UCCS_ERR_NO_MEMORY; /* a call that is made again gets the number that the other members have */
    const uint64_t number = atomic_fetch_add_relaxed(&from->children, 1) + 1; /* members call in one order */
    made->number = mix_bits(from->number ^ mix_bits(number));
    if (made->rank < 0) {
        free(made);
        made = UCCS_GROUP_NULL;
    }
    *group = made;
    return UCCS_OK;
}

void uccs_ranks_hold(struct uccs_group_impl *group)
{
    (void)atomic_fetch_add_relaxed(&group->users, 1); /* the caller already holds the group */
}

void uccs_ranks_drop(struct uccs_group_impl *group)
{
    bool last = atomic_fetch_sub_acqrel(&group->users, 1) ==
                1; /* acqrel with the other drops: all users are done with the group */
    if (last && group->world)
        free(group);
}

int uccs_group_release(uccs_group_t group)
{
    if (!group || group == UCCS_GROUP_WORLD)
        return UCCS_ERR_INVALID;
    uccs_ranks_drop(group);
    return UCCS_OK;
}
