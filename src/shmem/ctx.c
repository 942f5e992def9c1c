#include "shmem/ctx.h"

#include <pthread.h>
#include <stdlib.h>

struct shmem_ctx_impl lat_ctx_default;

/* Creation and destruction are rare and come from any thread. */
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *ctx, int pe)
{
    lat_require(call);
    if (!ctx)
        lat_fail(call, "ctx is SHMEM_CTX_INVALID");
    lat_fail(call, "pe %d is not in the context's team of %u PEs", pe, ctx->size);
}

struct shmem_ctx_impl *lat_ctx_make(struct shmem_ctx_impl **list, const struct shmem_ctx_impl *what)
{
    struct shmem_ctx_impl *ctx = malloc(sizeof *ctx);
    if (!ctx)
        return 0;
    *ctx = *what;
    pthread_mutex_lock(&contexts_lock);
    ctx->next = *list;
    *list = ctx;
    pthread_mutex_unlock(&contexts_lock);
    return ctx;
}

static void ctx_release(struct shmem_ctx_impl *ctx)
{
    uccs_far_release(&ctx->lanes);
    free(ctx);
}

bool lat_ctx_drop(struct shmem_ctx_impl **list, struct shmem_ctx_impl *ctx)
{
    pthread_mutex_lock(&contexts_lock);
    while (*list && *list != ctx)
        list = &(*list)->next;
    bool found = *list != 0;
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
