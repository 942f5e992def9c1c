/* Ordering, completion and the world's barrier. */
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/flush.h"

/* The context forms take SHMEM_CTX_INVALID as nothing to do, so ctx is not looked at: on the node
 * the fence is the same for every context. */
void lat_fence(void)
{
    lat_require("shmem_fence");
    uccs_fence_stores();
}

void lat_ctx_fence(shmem_ctx_t ctx)
{
    (void)ctx;
    lat_require("shmem_ctx_fence");
    uccs_fence_stores();
}

void lat_quiet(void)
{
    lat_require("shmem_quiet");
    uccs_quiet();
}

void lat_ctx_quiet(shmem_ctx_t ctx)
{
    (void)ctx;
    lat_require("shmem_ctx_quiet");
    uccs_quiet();
}

void lat_pe_quiet(const int *target_pes, size_t npes)
{
    (void)target_pes, (void)npes;
    lat_require("shmem_pe_quiet");
    uccs_quiet();
}

void lat_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    (void)ctx, (void)target_pes, (void)npes;
    lat_require("shmem_ctx_pe_quiet");
    uccs_quiet();
}

/* The group's sync releases what I stored before and acquires what the others stored, so every
 * participant sees every put: no fence beyond it is needed. */
void lat_barrier_all(void)
{
    lat_require("shmem_barrier_all");
    uccs_group_sync(&lat_team_world.group);
}

void lat_sync_all(void)
{
    lat_require("shmem_sync_all");
    uccs_group_sync(&lat_team_world.group);
}

int lat_team_sync(shmem_team_t team)
{
    lat_require("shmem_team_sync");
    struct shmem_team_impl *members = lat_team_of(team);
    if (!members)
        return -1;
    uccs_group_sync(&members->group);
    return 0;
}
