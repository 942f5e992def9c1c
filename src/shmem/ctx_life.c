/* Creates and destroys contexts, and answers which team a context belongs to. */
#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/team.h"

int lat_ctx_create(long options, shmem_ctx_t *ctx)
{
    lat_require("shmem_ctx_create");
    return lat_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx);
}

static bool threads_share(long options)
{
    return lat_thread_level == SHMEM_THREAD_MULTIPLE && !(options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE));
}

/* Finds how the context translates PE numbers. A team that lists its members comes from SHMEM_TEAM_SHARED by strided
 * splits, so their indices are a stride apart. */
static void find_translation(struct shmem_ctx_impl *ctx, const struct shmem_team_impl *team)
{
    const int *pes = team->group.pes;
    ctx->start = pes ? UCCS_PE_BY_INDEX + (int)uccs_index(pes[0]) : uccs_team_pe(&team->group, 0);
    ctx->stride = pes ? (int)uccs_index(pes[team->group.size > 1]) - (int)uccs_index(pes[0]) : team->group.stride;
}

int lat_team_create_ctx(shmem_team_t handle, long options, shmem_ctx_t *ctx)
{
    lat_require("shmem_team_create_ctx");
    struct shmem_team_impl *team = lat_team_of(handle);
    *ctx = SHMEM_CTX_INVALID;
    const long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
    if (!team || options & ~known)
        return -1;
    struct shmem_ctx_impl what = {.size = (uint32_t)team->group.size,
                                  .options = options,
                                  .team = team,
                                  .lanes.spread = threads_share(options)};
    find_translation(&what, team);
    struct shmem_ctx_impl *made = lat_ctx_make(&team->contexts, &what);
    if (!made)
        return -1;
    *ctx = made;
    return 0;
}

void lat_ctx_destroy(shmem_ctx_t ctx)
{
    if (!lat_require_or_leave("shmem_ctx_destroy") || !ctx)
        return;
    if (ctx == SHMEM_CTX_DEFAULT)
        lat_fail("shmem_ctx_destroy", "ctx is SHMEM_CTX_DEFAULT, which lives until shmem_finalize");
    struct shmem_team_impl *team = ctx->team;
    lat_ctx_quiet(ctx);
    if (!team)
        lat_ctx_fail("shmem_ctx_destroy", ctx, 0);
    if (!lat_ctx_drop(&team->contexts, ctx))
        lat_fail("shmem_ctx_destroy", "ctx %p is not a context", (void *)ctx);
}

int lat_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    lat_require("shmem_ctx_get_team");
    struct shmem_team_impl *members = ctx ? lat_ctx_of(ctx)->team : 0;
    *team = members ? lat_team_handle(members) : SHMEM_TEAM_INVALID;
    return members ? 0 : -1;
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
    (void)lat_require_or_leave("shmem_ctx_session_stop");
}
