/* Ordering, completion and the world's barrier. */
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/proto/initiator.h"

/* These three serve jobs on several nodes, and calls outside of init and finalize. An invalid context does nothing. Where the network
 * maps memory a quiet costs no more than its fence of the processor, which compilers choose badly in cold code. */
static __attribute__((noinline)) void fence_far(const char *call, shmem_ctx_t ctx)
{
    if (!lat_require_or_leave(call))
        return;
    if (ctx == SHMEM_CTX_DEFAULT) {
        uccs_fence_all();
        return;
    }
    if (ctx)
        proto_fence(lat_ctx_workers(ctx));
    uccs_fence_stores();
}

static __attribute__((noinline)) void quiet_far(const char *call, shmem_ctx_t ctx)
{
    if (!lat_require_or_leave(call))
        return;
    if (ctx == SHMEM_CTX_DEFAULT) {
        uccs_quiet_all();
        return;
    }
    if (ctx)
        proto_quiet(lat_ctx_workers(ctx));
    uccs_quiet();
}

static lat_cold void pe_quiet_far(const char *call, shmem_ctx_t ctx, const int *target_pes, size_t npes)
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

static inline void fence_ctx(const char *call, shmem_ctx_t ctx)
{
    if (lat_likely(lat_on_node))
        uccs_fence_stores();
    else
        fence_far(call, ctx);
}

static inline void quiet_ctx(const char *call, shmem_ctx_t ctx)
{
    if (lat_likely(lat_on_node))
        uccs_quiet();
    else
        quiet_far(call, ctx);
}

static inline void pe_quiet(const char *call, shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    if (lat_likely(lat_on_node))
        uccs_quiet();
    else
        pe_quiet_far(call, ctx, target_pes, npes);
}

void lat_fence(void)
{
    fence_ctx("shmem_fence", SHMEM_CTX_DEFAULT);
}

void lat_ctx_fence(shmem_ctx_t ctx)
{
    fence_ctx("shmem_ctx_fence", ctx);
}

void lat_quiet(void)
{
    quiet_ctx("shmem_quiet", SHMEM_CTX_DEFAULT);
}

void lat_ctx_quiet(shmem_ctx_t ctx)
{
    quiet_ctx("shmem_ctx_quiet", ctx);
}

void lat_pe_quiet(const int *target_pes, size_t npes)
{
    pe_quiet("shmem_pe_quiet", SHMEM_CTX_DEFAULT, target_pes, npes);
}

void lat_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    pe_quiet("shmem_ctx_pe_quiet", ctx, target_pes, npes);
}

/* The group's sync releases my earlier stores and acquires the others', so every PE sees all puts on its node without a
 * further fence. */
void lat_barrier_all(void)
{
    lat_require("shmem_barrier_all");
    if (lat_unlikely(atomic_load_relaxed(&proto_touched)))
        proto_quiet(0);
    uccs_team_sync(&lat_team_world.group);
}

void lat_sync_all(void)
{
    lat_require("shmem_sync_all");
    uccs_team_sync(&lat_team_world.group);
}

int lat_team_sync(shmem_team_t team)
{
    lat_require("shmem_team_sync");
    struct shmem_team_impl *members = lat_team_of(team);
    if (!members)
        return -1;
    uccs_team_sync(&members->group);
    return 0;
}
