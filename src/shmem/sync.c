/* Ordering and completion for peers on other nodes, and barriers. */
#include "shmem/sync.h"

#include "shmem/calls.h"
#include "shmem/team.h"
#include "uccs/proto/initiator.h"

/* Where the network maps memory a quiet costs no more than its fence of the processor, which compilers choose badly in cold code. */
__attribute__((noinline)) void lat_fence_far(const char *call, shmem_ctx_t handle)
{
    const struct shmem_ctx_impl *ctx = lat_ctx_of(handle);
    if (!lat_require_or_leave(call))
        return;
    if (ctx == LAT_CTX_DEFAULT) {
        uccs_fence_all();
        return;
    }
    if (ctx)
        proto_fence(lat_ctx_workers(handle));
    uccs_fence_stores();
}

__attribute__((noinline)) void lat_quiet_far(const char *call, shmem_ctx_t handle)
{
    const struct shmem_ctx_impl *ctx = lat_ctx_of(handle);
    if (!lat_require_or_leave(call))
        return;
    if (ctx == LAT_CTX_DEFAULT) {
        uccs_quiet_all();
        return;
    }
    if (ctx)
        proto_quiet(lat_ctx_workers(handle));
    uccs_quiet();
}

lat_cold void lat_pe_quiet_far(const char *call, shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    enum { SOME = 64 };
    int pes[SOME];
    lat_require(call);
    for (size_t at = 0; ctx && at < npes; at += SOME) {
        size_t n = npes - at < SOME ? npes - at : SOME;
        for (size_t i = 0; i < n; i++)
            pes[i] = lat_ctx_pe(call, ctx, target_pes[at + i]);
        proto_quiet_pes(lat_ctx_workers(ctx), pes, n);
    }
    uccs_quiet();
}

/* The group's sync releases my earlier stores and acquires the others', so every PE sees all puts on its node without a
 * further fence. */
void lat_barrier_all(void)
{
    if (lat_unlikely(atomic_load_relaxed(&proto_touched)))
        proto_quiet(0);
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
