#include "shmem/team.h"

#include "rte/rte.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/state.h"
#include "uccs/coll/coll.h"
#include "uccs/comp/counter.h"
#include "uccs/core/core.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { AREA_WORLD, AREA_SHARED, AREA_FIRST };

struct shmem_team_impl lat_team_world, lat_team_shared;

/* Which team of this process holds an area. */
static struct shmem_team_impl *holders[NODE_TEAM_AREAS];
static pthread_mutex_t areas_lock = PTHREAD_MUTEX_INITIALIZER;

shmem_team_t lat_team_handle(struct shmem_team_impl *team)
{
    if (team == &lat_team_world)
        return SHMEM_TEAM_WORLD;
    return team == &lat_team_shared ? SHMEM_TEAM_SHARED : team;
}

struct members {
    int rank, size, start, stride;
    const int *pes; /* null: they are a stride apart */
};

static int *copy_of(const int *pes, int size)
{
    int *copy = malloc((size_t)size * sizeof *copy);
    return copy ? memcpy(copy, pes, (size_t)size * sizeof *copy) : 0;
}

/* Finds the members of this node. Dealt out in turn, they are a stride apart. */
static struct members members_of_node(void)
{
    const int *pes = uccs_core.pe_of, size = (int)uccs_core.pes;
    struct members members = {(int)uccs_core.index, size, (int)uccs_core.first, 1, 0};
    if (!pes)
        return members;
    members.stride = pes[1] - pes[0];
    for (int i = 1; i < size; i++)
        if (pes[i] != pes[0] + i * members.stride)
            members.pes = pes;
    return members;
}

/* Keeps the group's counts over a finalize, because the flags in the node's memory keep their values too. */
static void open_predefined(struct shmem_team_impl *team, int area, const struct members *members)
{
    struct uccs_team group = team->group;
    *team = (struct shmem_team_impl){0};
    group.rank = members->rank;
    group.size = members->size;
    group.start = members->start - (int)uccs_core.first;
    group.stride = members->stride;
    if (members->pes && !group.pes && !(group.pes = copy_of(members->pes, group.size)))
        lat_fail("shmem_init", "no memory for a team of %d PEs", group.size);
    if (uccs_team_map_nodes(&group) != 0)
        lat_fail("shmem_init", "no memory for a team of %d PEs", group.size);
    uccs_team_set_area(&group, area);
    team->group = group;
    holders[area] = team;
}

void lat_team_open(void)
{
    const struct members world = {uccs_core.me, uccs_core.npes, 0, 1, 0}, node = members_of_node();
    open_predefined(&lat_team_world, AREA_WORLD, &world);
    open_predefined(&lat_team_shared, AREA_SHARED, &node);
}

/* No sync is needed: no PE clears a row before the barrier that ends finalize. */
void lat_team_close(void)
{
    lat_ctx_drop_all(&lat_team_world.contexts);
    lat_ctx_drop_all(&lat_team_shared.contexts);
    for (int area = AREA_FIRST; area < NODE_TEAM_AREAS; area++) {
        if (!holders[area])
            continue;
        lat_ctx_drop_all(&holders[area]->contexts);
        uccs_team_free(&holders[area]->group);
        free(holders[area]);
        holders[area] = 0;
    }
}

static void give_area(int area)
{
    pthread_mutex_lock(&areas_lock);
    holders[area] = 0;
    pthread_mutex_unlock(&areas_lock);
}

/* Waits until the team's split-phase collectives are complete here. */
static void drain_split_phase(const struct shmem_team_impl *team)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&team->group.pending)) /* acqrel: nbe_complete */
        uccs_pause(&wait);
}

void lat_team_destroy(shmem_team_t handle)
{
    struct shmem_team_impl *team = lat_team_of(handle);
    if (!team)
        return;
    if (team == &lat_team_world || team == &lat_team_shared)
        lat_fail("shmem_team_destroy", "%s is predefined and lives until shmem_finalize",
                 team == &lat_team_world ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
    uccs_quiet_all();
    drain_split_phase(team);
    uccs_team_part(&team->group);
    lat_ctx_drop_all(&team->contexts);
    give_area(team->group.area);
    uccs_team_free(&team->group);
    free(team);
}

int lat_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    if (!team || (config_mask && !config))
        return -1;
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS)
        config->num_contexts = lat_team_of(team)->config.num_contexts;
    return 0;
}

/* Returns the member number of a world PE, or -1. */
static int member_of(const struct uccs_team *group, int pe)
{
    for (int i = 0; group->pes && i < group->size; i++)
        if (group->pes[i] == pe)
            return i;
    if (group->pes)
        return -1;
    int distance = pe - uccs_team_pe(group, 0);
    int member = distance / group->stride;
    return distance % group->stride == 0 && member >= 0 && member < group->size ? member : -1;
}

int lat_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    const struct shmem_team_impl *from = lat_team_of(src_team), *to = lat_team_of(dest_team);
    if (!from || !to || src_pe < 0 || src_pe >= from->group.size)
        return -1;
    return member_of(&to->group, uccs_team_pe(&from->group, src_pe));
}

void *lat_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    const struct shmem_team_impl *members = lat_team_of(team);
    if (!members || pe < 0 || pe >= members->group.size)
        return 0;
    return lat_ptr(dest, uccs_team_pe(&members->group, pe));
}

/* --- Contexts of teams */

/* Finds how the context translates PE numbers. A team that lists its members comes from SHMEM_TEAM_SHARED by strided
 * splits, so their indices are a stride apart. */
static void find_translation(struct shmem_ctx_impl *ctx, const struct shmem_team_impl *team)
{
    const int *pes = team->group.pes;
    ctx->start = pes ? UCCS_PE_BY_INDEX + (int)uccs_index(pes[0]) : uccs_team_pe(&team->group, 0);
    ctx->stride = pes ? (int)uccs_index(pes[team->group.size > 1]) - (int)uccs_index(pes[0]) : team->group.stride;
}

int lat_team_create_ctx(shmem_team_t handle, long options, shmem_ctx_t *ctx)
{
    struct shmem_team_impl *team = lat_team_of(handle);
    *ctx = SHMEM_CTX_INVALID;
    const long alone = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE, known = alone | SHMEM_CTX_NOSTORE;
    if (!team || options & ~known)
        return -1;
    struct shmem_ctx_impl *made = malloc(sizeof *made);
    if (!made)
        return -1;
    *made = (struct shmem_ctx_impl){.size = (uint32_t)team->group.size,
                                    .options = options,
                                    .team = team,
                                    .workers.spread = lat_thread_level == SHMEM_THREAD_MULTIPLE && !(options & alone)};
    find_translation(made, team);
    lat_ctx_add(&team->contexts, made);
    *ctx = made;
    return 0;
}

void lat_ctx_destroy(shmem_ctx_t ctx)
{
    if (!ctx)
        return;
    if (ctx == SHMEM_CTX_DEFAULT)
        lat_fail("shmem_ctx_destroy", "ctx is SHMEM_CTX_DEFAULT, which lives until shmem_finalize");
    struct shmem_team_impl *team = ctx->team;
    lat_quiet("shmem_ctx_destroy", ctx);
    if (!team)
        lat_ctx_fail("shmem_ctx_destroy", ctx, 0);
    if (!lat_ctx_drop(&team->contexts, ctx))
        lat_fail("shmem_ctx_destroy", "ctx %p is not a context", (void *)ctx);
}

int lat_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    struct shmem_team_impl *members = ctx ? lat_ctx_of(ctx)->team : 0;
    *team = members ? lat_team_handle(members) : SHMEM_TEAM_INVALID;
    return members ? 0 : -1;
}

/* --- Barriers */

/* The group's sync releases my earlier stores and acquires the others', so every PE sees all puts on its node without a
 * further fence. */
void lat_barrier_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&proto_touched)))
        (void)proto_quiet(0, 0, 0);
    uccs_team_sync(&lat_team_world.group);
}

int lat_team_sync(shmem_team_t team)
{
    struct shmem_team_impl *members = lat_team_of(team);
    if (!members)
        return -1;
    uccs_team_sync(&members->group);
    return 0;
}

/* --- Members agree */

/* Ranks of a team, a stride apart. */
struct part {
    int start, stride, size;
};

/* Replaces the words by the AND, or the maximum, of those that the members of the part have given. Of no members: all bits, or 0. All
 * members of the team call. */
static int fold_words(struct uccs_team *team, const struct part *part, uint64_t *words, size_t n, bool maximum)
{
    uint64_t *all = malloc((size_t)team->size * n * sizeof *all);
    if (!all)
        uccs_fail("no memory for %zu words of each of %d PEs", n, team->size);
    uccs_team_tell(team, all, words, n * sizeof *words);
    memset(words, maximum ? 0 : 0xff, n * sizeof *words);
    for (int i = 0; i < part->size; i++) {
        const uint64_t *theirs = all + (size_t)(part->start + i * part->stride) * n;
        for (size_t word = 0; word < n; word++)
            if (!maximum)
                words[word] &= theirs[word];
            else if (theirs[word] > words[word])
                words[word] = theirs[word];
    }
    free(all);
    return UCCS_OK;
}

int lat_team_join(void *team, uint64_t *words, size_t n, bool maximum)
{
    return fold_words(team, &(struct part){0, 1, ((const struct uccs_team *)team)->size}, words, n, maximum);
}

/* --- Splitting.
 *
 * Every new team needs an area of the node's memory that is free at all of its members. They agree on it (comp/counter.h), for all
 * new teams of a split at once: the parent's members meet in each round, free areas are those of the members of the new team
 * alone, and whether all have taken theirs is a matter of all members of the parent, who return the same. A PE that is in
 * no new team takes nothing. Each takes its area and clears its row of it before the last round, so that any member may use
 * its new team at once.
 *
 * Called by one thread per parent team at a time; splits of several parents may run at once. No lock is
 * held while waiting for peers. */

struct split {
    struct uccs_team *parent;
    struct part part;             /* the new team that this PE is in, in ranks of the parent; of size 0: none */
    struct shmem_team_impl *team; /* null: this PE is in none, or has no memory for it */
};

_Static_assert(NODE_TEAM_AREAS == 64 * UCCS_AGREE_WORDS, "the areas are one window");

static int join_split(void *members, uint64_t *words, size_t n, bool maximum)
{
    struct split *split = members;
    if (maximum)
        return lat_team_join(split->parent, words, n, true);
    return fold_words(split->parent, &split->part, words, n, false);
}

/* A PE without memory for its team offers no area. */
static void list_areas(void *what, uint32_t window, uint64_t *words)
{
    const struct split *split = what;
    (void)window;
    memset(words, 0, UCCS_AGREE_WORDS * sizeof *words);
    pthread_mutex_lock(&areas_lock);
    for (int area = AREA_FIRST; split->team && area < NODE_TEAM_AREAS; area++)
        if (!holders[area])
            words[area / 64] |= UINT64_C(1) << area % 64;
    pthread_mutex_unlock(&areas_lock);
}

static uint64_t take_area(void *what, uint32_t area)
{
    const struct split *split = what;
    if (!split->team)
        return true;
    pthread_mutex_lock(&areas_lock);
    const bool taken = !holders[area];
    if (taken)
        holders[area] = split->team;
    pthread_mutex_unlock(&areas_lock);
    if (taken) {
        uccs_team_set_area(&split->team->group, (int)area);
        uccs_team_clear(&split->team->group);
    }
    return taken;
}

static void give_area_back(void *what, uint32_t area)
{
    const struct split *split = what;
    if (split->team)
        give_area((int)area);
}

/* Lists the members of a part of a team that lists its own. Returns false without memory. */
static bool list_members(struct uccs_team *team, const struct uccs_team *parent, const struct part *part)
{
    if (!parent->pes)
        return true;
    team->pes = malloc((size_t)part->size * sizeof *team->pes);
    for (int i = 0; team->pes && i < part->size; i++)
        team->pes[i] = parent->pes[part->start + i * part->stride];
    return team->pes;
}

static struct shmem_team_impl *make_team(const struct shmem_team_impl *parent, const struct part *part,
                                         const shmem_team_config_t *config, long mask)
{
    struct shmem_team_impl *team = calloc(1, sizeof *team);
    if (!team)
        return 0;
    if (mask & SHMEM_TEAM_NUM_CONTEXTS)
        team->config.num_contexts = config->num_contexts;
    team->group = (struct uccs_team){.rank = (parent->group.rank - part->start) / part->stride,
                                     .size = part->size,
                                     .start = parent->group.start + part->start * parent->group.stride,
                                     .stride = parent->group.stride * part->stride};
    if (list_members(&team->group, &parent->group, part) && uccs_team_map_nodes(&team->group) == 0)
        return team;
    uccs_team_free(&team->group);
    free(team);
    return 0;
}

/* Every member of the parent calls it; `part` is the new team that this PE is in, or null. */
static int split_team(struct shmem_team_impl *parent, const struct part *part, const shmem_team_config_t *config,
                      long mask, shmem_team_t *new_team)
{
    if (mask && !config)
        return -1;
    struct split split = {.parent = &parent->group, .team = part ? make_team(parent, part, config, mask) : 0};
    if (part)
        split.part = *part;
    const struct uccs_members members = {.join = join_split, .members = &split, .salt = (uint32_t)parent->group.area};
    const struct uccs_numbers areas = {.windows = 1,
                                       .each = NODE_TEAM_AREAS,
                                       .what = &split,
                                       .list = list_areas,
                                       .take = take_area,
                                       .give_back = give_area_back};
    uint32_t area;
    uint64_t taken;
    if (uccs_agree(&members, &areas, &area, &taken) == UCCS_OK) {
        *new_team = split.team;
        return 0;
    }
    if (split.team)
        uccs_team_free(&split.team->group);
    free(split.team);
    return -1;
}

/* Returns true when the part lies in the parent. A part of one member may have any stride; it becomes 1, so that
 * nothing overflows or divides by zero later. */
static bool is_valid_part(const struct shmem_team_impl *parent, struct part *part)
{
    if (part->size < 1 || part->start < 0 || part->start >= parent->group.size)
        return false;
    if (part->size == 1)
        part->stride = 1;
    int64_t last = part->start + (int64_t)part->stride * (part->size - 1);
    return part->stride != 0 && last >= 0 && last < parent->group.size;
}

static bool part_contains(const struct part *part, int rank)
{
    int distance = rank - part->start;
    int member = distance / part->stride;
    return distance % part->stride == 0 && member >= 0 && member < part->size;
}

int lat_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                           long config_mask, shmem_team_t *new_team)
{
    struct shmem_team_impl *parent = lat_team_of(parent_team);
    struct part part = {start, stride, size};
    *new_team = SHMEM_TEAM_INVALID;
    if (!parent || !is_valid_part(parent, &part))
        return -1;
    return split_team(parent, part_contains(&part, parent->group.rank) ? &part : 0, config, config_mask, new_team);
}

/* The x axis runs along a row of xrange members, the y axis along the column. */
int lat_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                      shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                      shmem_team_t *yaxis_team)
{
    struct shmem_team_impl *parent = lat_team_of(parent_team);
    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (!parent || xrange < 1)
        return -1;
    int size = parent->group.size, x, row;
    xrange = xrange < size ? xrange : size;
    x = parent->group.rank % xrange;
    row = parent->group.rank - x;
    struct part xpart = {row, 1, size - row < xrange ? size - row : xrange};
    struct part ypart = {x, xrange, (size - x + xrange - 1) / xrange};
    if (split_team(parent, &xpart, xaxis_config, xaxis_mask, xaxis_team) != 0)
        return -1;
    if (split_team(parent, &ypart, yaxis_config, yaxis_mask, yaxis_team) == 0)
        return 0;
    give_area((*xaxis_team)->group.area); /* nobody has used it yet */
    uccs_team_free(&(*xaxis_team)->group);
    free(*xaxis_team);
    *xaxis_team = SHMEM_TEAM_INVALID;
    return -1;
}
