#include "shmem/ctx.h"

#include "shmem/calls.h"
#include "shmem/team.h"

#include <pthread.h>
#include <stdlib.h>

struct shmem_ctx_impl lat_ctx_default;

/* Creation and destruction are rare and come from any thread. */
static pthread_mutex_t contexts = PTHREAD_MUTEX_INITIALIZER;

_Noreturn void lat_ctx_fail(const char *call, const struct shmem_ctx_impl *ctx, int pe)
{
    lat_require(call);
    if (!ctx)
        lat_fail(call, "ctx is SHMEM_CTX_INVALID");
    lat_fail(call, "pe %d is not in the context's team of %u PEs", pe, ctx->size);
}

static void bind(struct shmem_ctx_impl *ctx, struct shmem_team_impl *team, long options)
{
    *ctx = (struct shmem_ctx_impl){.size = (uint32_t)team->size,
                                   .start = team->start,
                                   .stride = team->stride,
                                   .options = options,
                                   .team = team};
}

void lat_ctx_open(void)
{
    bind(&lat_ctx_default, &lat_team_world, 0);
}

void lat_ctx_close(void)
{
    lat_ctx_default = (struct shmem_ctx_impl){0};
}

void lat_ctx_release(struct shmem_team_impl *team)
{
    while (team->contexts) {
        struct shmem_ctx_impl *ctx = team->contexts;
        team->contexts = ctx->next;
        uccs_far_release(&ctx->lanes);
        free(ctx);
    }
}

int lat_ctx_create(long options, shmem_ctx_t *ctx)
{
    lat_require("shmem_ctx_create");
    return lat_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx);
}

int lat_team_create_ctx(shmem_team_t handle, long options, shmem_ctx_t *ctx)
{
    lat_require("shmem_team_create_ctx");
    struct shmem_team_impl *team = lat_team_of(handle);
    *ctx = SHMEM_CTX_INVALID;
    const long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
    if (!team || options & ~known)
        return -1;
    struct shmem_ctx_impl *made = malloc(sizeof *made);
    if (!made)
        return -1;
    bind(made, team, options);
    int threads;
    lat_query_thread(&threads);
    made->lanes.spread = threads == SHMEM_THREAD_MULTIPLE && !(options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE));
    pthread_mutex_lock(&contexts);
    made->next = team->contexts;
    team->contexts = made;
    pthread_mutex_unlock(&contexts);
    *ctx = made;
    return 0;
}

static int unlink_context(struct shmem_ctx_impl *ctx)
{
    pthread_mutex_lock(&contexts);
    struct shmem_ctx_impl **at = &ctx->team->contexts;
    while (*at && *at != ctx)
        at = &(*at)->next;
    int found = *at == ctx;
    if (found)
        *at = ctx->next;
    pthread_mutex_unlock(&contexts);
    return found;
}

void lat_ctx_destroy(shmem_ctx_t ctx)
{
    lat_require("shmem_ctx_destroy");
    if (!ctx)
        return;
    if (ctx == SHMEM_CTX_DEFAULT)
        lat_fail("shmem_ctx_destroy", "ctx is SHMEM_CTX_DEFAULT, which lives until shmem_finalize");
    lat_ctx_quiet(ctx);
    if (!unlink_context(ctx))
        lat_fail("shmem_ctx_destroy", "ctx %p is not a context", (void *)ctx);
    uccs_far_release(&ctx->lanes);
    free(ctx);
}

int lat_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    lat_require("shmem_ctx_get_team");
    *team = ctx ? lat_team_handle(lat_ctx_of(ctx)->team) : SHMEM_TEAM_INVALID;
    return ctx ? 0 : -1;
}

/* Sessions are hints for networks that can batch; on the node every operation is done at once and
 * there is nothing to batch. */
void lat_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask)
{
    (void)ctx, (void)options, (void)config, (void)config_mask;
    lat_require("shmem_ctx_session_start");
}

void lat_ctx_session_stop(shmem_ctx_t ctx)
{
    (void)ctx;
    lat_require("shmem_ctx_session_stop");
}
