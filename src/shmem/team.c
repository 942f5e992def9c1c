#include "shmem/team.h"

#include "rte/rte.h"
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/state.h"
#include "uccs/memory.h"

struct shmem_team_impl lat_team_world, lat_team_shared;

shmem_team_t lat_team_handle(struct shmem_team_impl *team)
{
    if (team == &lat_team_world)
        return SHMEM_TEAM_WORLD;
    return team == &lat_team_shared ? SHMEM_TEAM_SHARED : team;
}

/* The counts outlive a finalize: the flags in the node's memory do too. */
static void open_predefined(struct shmem_team_impl *team, int slot)
{
    struct uccs_group before = team->group;
    *team = (struct shmem_team_impl){.rank = rte.node_index, .size = rte.node_size, .start = rte.node_first, .stride = 1};
    team->group = (struct uccs_group){.slot = slot, .rank = team->rank, .size = team->size, .start = 0, .stride = 1,
                                      .epoch = before.epoch, .posted = before.posted, .copied = before.copied};
}

void lat_team_open(void)
{
    open_predefined(&lat_team_world, 0);
    open_predefined(&lat_team_shared, 1);
}

void lat_team_close(void)
{
    lat_ctx_release(&lat_team_world);
    lat_ctx_release(&lat_team_shared);
}

int lat_team_my_pe(shmem_team_t team)
{
    lat_require("shmem_team_my_pe");
    return team ? lat_team_of(team)->rank : -1;
}

int lat_team_n_pes(shmem_team_t team)
{
    lat_require("shmem_team_n_pes");
    return team ? lat_team_of(team)->size : -1;
}
