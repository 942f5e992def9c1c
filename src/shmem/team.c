#include "shmem/team.h"

#include "rte/rte.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/state.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/wait.h"

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

struct lat_areas lat_team_free_areas(void)
{
    struct lat_areas areas = {0};
    pthread_mutex_lock(&areas_lock);
    for (int area = AREA_FIRST; area < NODE_TEAM_AREAS; area++)
        if (!holders[area])
            areas.bits[area / 64] |= UINT64_C(1) << area % 64;
    pthread_mutex_unlock(&areas_lock);
    return areas;
}

bool lat_team_take(int area, struct shmem_team_impl *team)
{
    pthread_mutex_lock(&areas_lock);
    bool taken = !holders[area];
    if (taken)
        holders[area] = team;
    pthread_mutex_unlock(&areas_lock);
    return taken;
}

void lat_team_give(int area)
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
    struct shmem_team_impl *team = lat_require_or_leave("shmem_team_destroy") ? lat_team_of(handle) : 0;
    if (!team)
        return;
    if (team == &lat_team_world || team == &lat_team_shared)
        lat_fail("shmem_team_destroy", "%s is predefined and lives until shmem_finalize",
                 team == &lat_team_world ? "SHMEM_TEAM_WORLD" : "SHMEM_TEAM_SHARED");
    uccs_quiet_all();
    drain_split_phase(team);
    uccs_team_part(&team->group);
    lat_ctx_drop_all(&team->contexts);
    lat_team_give(team->group.area);
    uccs_team_free(&team->group);
    free(team);
}

int lat_team_my_pe(shmem_team_t team)
{
    lat_require("shmem_team_my_pe");
    return team ? lat_team_of(team)->group.rank : -1;
}

int lat_team_n_pes(shmem_team_t team)
{
    lat_require("shmem_team_n_pes");
    return team ? lat_team_of(team)->group.size : -1;
}

int lat_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    lat_require("shmem_team_get_config");
    if (!team)
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
    lat_require("shmem_team_translate_pe");
    const struct shmem_team_impl *from = lat_team_of(src_team), *to = lat_team_of(dest_team);
    if (!from || !to || src_pe < 0 || src_pe >= from->group.size)
        return -1;
    return member_of(&to->group, uccs_team_pe(&from->group, src_pe));
}

void *lat_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    lat_require("shmem_team_ptr");
    const struct shmem_team_impl *members = lat_team_of(team);
    if (!members || pe < 0 || pe >= members->group.size)
        return 0;
    return lat_ptr(dest, uccs_team_pe(&members->group, pe));
}
