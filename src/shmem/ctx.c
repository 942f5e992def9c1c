/* Contexts: their memory, the line for one that is not valid, and order and completion for peers on other nodes. */
#include "shmem/ctx.h"

#include <pthread.h>
#include <stdlib.h>

#define RETIRED_MOST 64

struct shmem_ctx_impl lat_ctx_default;

/* Creation and destruction are rare and come from any thread. */
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *ctx, int pe)
{
    lat_require(call);
    if (!ctx)
        lat_fail(call, "ctx is SHMEM_CTX_INVALID");
    if (!ctx->team)
        lat_fail(call, "ctx %p was destroyed, or its team was", (const void *)ctx);
    lat_fail(call, "pe %d is not in the context's team of %u PEs", pe, ctx->size);
}

/* Destroyed contexts keep their memory for a while, so that a program that still uses one is told so: a context of no
 * PEs fails every PE number. Only the oldest is freed, so they stay few. */
static struct {
    struct shmem_ctx_impl *first, **last;
    int count;
} retired = {.last = &retired.first};

static void ctx_retire(struct shmem_ctx_impl *ctx)
{
    struct shmem_ctx_impl *oldest = 0;
    *ctx = (struct shmem_ctx_impl){0};
    pthread_mutex_lock(&contexts_lock);
    *retired.last = ctx;
    retired.last = &ctx->next;
    if (++retired.count > RETIRED_MOST) {
        oldest = retired.first;
        retired.first = oldest->next;
        retired.count--;
    }
    pthread_mutex_unlock(&contexts_lock);
    free(oldest);
}

static void ctx_release(struct shmem_ctx_impl *ctx)
{
    proto_release(&ctx->workers);
    ctx_retire(ctx);
}

void lat_ctx_add(struct shmem_ctx_impl **list, struct shmem_ctx_impl *ctx)
{
    pthread_mutex_lock(&contexts_lock);
    ctx->next = *list;
    *list = ctx;
    pthread_mutex_unlock(&contexts_lock);
}

bool lat_ctx_drop(struct shmem_ctx_impl **list, struct shmem_ctx_impl *ctx)
{
    pthread_mutex_lock(&contexts_lock);
    while (*list && *list != ctx)
        list = &(*list)->next;
    const bool found = *list != 0;
    if (found)
        *list = ctx->next;
    pthread_mutex_unlock(&contexts_lock);
    if (found)
        ctx_release(ctx);
    return found;
}

void lat_ctx_drop_all(struct shmem_ctx_impl **list)
{
    while (*list) {
        struct shmem_ctx_impl *ctx = *list;
        *list = ctx->next;
        ctx_release(ctx);
    }
}

/* --- Order and completion */

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
        (void)proto_quiet(lat_ctx_workers(handle), 0, 0);
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
        (void)proto_quiet(lat_ctx_workers(ctx), pes, n);
    }
    uccs_quiet();
}
