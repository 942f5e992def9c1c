/* Order and completion of a context's operations. Any thread. */
#ifndef SHMEM_SYNC_H
#define SHMEM_SYNC_H

#include "shmem/ctx.h"
#include "uccs/core/wait.h"

/* The far halves serve jobs on several nodes, and calls outside of init and finalize. An invalid context does nothing. */
void lat_fence_far(const char *call, shmem_ctx_t ctx);
void lat_quiet_far(const char *call, shmem_ctx_t ctx);
void lat_pe_quiet_far(const char *call, shmem_ctx_t ctx, const int *target_pes, size_t npes);

static inline void lat_fence(const char *call, shmem_ctx_t ctx)
{
    if (lat_likely(lat_on_node))
        uccs_fence_stores();
    else
        lat_fence_far(call, ctx);
}

static inline void lat_quiet(const char *call, shmem_ctx_t ctx)
{
    if (lat_likely(lat_on_node))
        uccs_quiet();
    else
        lat_quiet_far(call, ctx);
}

static inline void lat_pe_quiet(const char *call, shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    if (lat_likely(lat_on_node))
        uccs_quiet();
    else
        lat_pe_quiet_far(call, ctx, target_pes, npes);
}

#endif
