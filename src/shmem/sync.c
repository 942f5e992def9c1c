/* Ordering, completion and the world's barrier. */
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/flush.h"

/* With PEs on other nodes, or not running. */
static lat_cold void fence_far(const char *call)
{
    lat_require(call);
    uccs_fence_all();
}

static lat_cold void quiet_far(const char *call)
{
    lat_require(call);
    uccs_quiet_all();
}

static inline void fence(const char *call)
{
    if (lat_likely(lat_on_node))
        uccs_fence_stores();
    else
        fence_far(call);
}

static inline void quiet(const char *call)
{
    if (lat_likely(lat_on_node))
        uccs_quiet();
    else
        quiet_far(call);
}

/* The context forms take SHMEM_CTX_INVALID as nothing to do, so ctx is not looked at: on the node the fence is the
 * same for every context, and beyond it covers what the whole process has issued. */
void lat_fence(void)
{
    fence("shmem_fence");
}

void lat_ctx_fence(shmem_ctx_t ctx)
{
    (void)ctx;
    fence("shmem_ctx_fence");
}

void lat_quiet(void)
{
    quiet("shmem_quiet");
}

void lat_ctx_quiet(shmem_ctx_t ctx)
{
    (void)ctx;
    quiet("shmem_ctx_quiet");
}

void lat_pe_quiet(const int *target_pes, size_t npes)
{
    (void)target_pes, (void)npes;
    quiet("shmem_pe_quiet");
}

void lat_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    (void)ctx, (void)target_pes, (void)npes;
    quiet("shmem_ctx_pe_quiet");
}

/* The group's sync releases what I stored before and acquires what the others stored, so every
 * participant sees every put on its node: no fence beyond it is needed. */
void lat_barrier_all(void)
{
    lat_require("shmem_barrier_all");
    if (lat_unlikely(atomic_load_relaxed(&uccs_far_touched)))
        uccs_far_quiet(0);
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
