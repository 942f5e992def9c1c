/* Contexts: each completes and orders its own operations. On the node every operation is complete when
 * it returns, so a context only translates PE numbers of its team. To PEs of other nodes a context issues on workers
 * (uccs/proto/initiator.h): the default context on the service worker, other contexts on one worker each, and a context that several
 * threads use at the same time on several.
 *
 * Any thread may use a context within the limits of its options (SERIALIZED, PRIVATE). */
#ifndef SHMEM_CTX_H
#define SHMEM_CTX_H

#include "shmem/state.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

#include <shmem.h>

struct shmem_team_impl;

struct shmem_ctx_impl {
    uint32_t size; /* of the team; 0 before init, and of a destroyed context */
    int start, stride;
    long options;
    struct shmem_team_impl *team;    /* null in a destroyed context */
    struct shmem_ctx_impl *next;     /* among the team's contexts */
    struct proto_worker_set workers; /* not of the default context */
};

extern struct shmem_ctx_impl lat_ctx_default;
#define LAT_CTX_DEFAULT (&lat_ctx_default)

/* Returns the context of a handle. SHMEM_CTX_DEFAULT is a small number, so that it can initialise static variables. */
static inline struct shmem_ctx_impl *lat_ctx_of(shmem_ctx_t handle)
{
    return handle == SHMEM_CTX_DEFAULT ? LAT_CTX_DEFAULT : handle;
}

/* Returns the workers that the context issues on, null for the service worker. The handle must be valid. */
static inline struct proto_worker_set *lat_ctx_workers(shmem_ctx_t handle)
{
    struct shmem_ctx_impl *ctx = lat_ctx_of(handle);
    return ctx == LAT_CTX_DEFAULT ? 0 : &ctx->workers;
}

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *ctx, int pe);

/* Translates a PE of the context's team to a PE of the world; ends the job when there is no such PE. */
static inline int lat_ctx_pe(const char *call, shmem_ctx_t handle, int pe)
{
    const struct shmem_ctx_impl *ctx = lat_ctx_of(handle);
    if (lat_unlikely(!ctx || (uint32_t)pe >= ctx->size))
        lat_ctx_fail(call, ctx, pe);
    return ctx->start + pe * ctx->stride;
}

/* Adds a context to a team's list. Any thread. */
void lat_ctx_add(struct shmem_ctx_impl **list, struct shmem_ctx_impl *ctx);

/* Destroys a context; returns false when it is not in the list. Any thread. */
bool lat_ctx_drop(struct shmem_ctx_impl **list, struct shmem_ctx_impl *ctx);

/* Destroys the contexts of a team's list, which nobody uses any more. */
void lat_ctx_drop_all(struct shmem_ctx_impl **list);

/* --- Order and completion of a context's operations. Any thread. */

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
