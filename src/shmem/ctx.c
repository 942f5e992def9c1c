/* The contexts of teams: their life, and the line for one that is not valid. */
#include "shmem/ctx.h"

#include "shmem/calls.h"
#include "shmem/sync.h"
#include "shmem/team.h"

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
    proto_release(&ctx->lanes);
    ctx_retire(ctx);
}

/* Takes a context off its team's list. Returns false when it is not in it. */
static bool ctx_unlink(struct shmem_ctx_impl **list, const struct shmem_ctx_impl *ctx)
{
    pthread_mutex_lock(&contexts_lock);
    while (*list && *list != ctx)
        list = &(*list)->next;
    const bool found = *list != 0;
    if (found)
        *list = ctx->next;
    pthread_mutex_unlock(&contexts_lock);
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
    struct shmem_team_impl *team = lat_team_of(handle);
    *ctx = SHMEM_CTX_INVALID;
    const long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
    if (!team || options & ~known)
        return -1;
    struct shmem_ctx_impl *made = malloc(sizeof *made);
    if (!made)
        return -1;
    *made = (struct shmem_ctx_impl){.size = (uint32_t)team->group.size,
                                    .options = options,
                                    .team = team,
                                    .lanes.spread = threads_share(options)};
    find_translation(made, team);
    pthread_mutex_lock(&contexts_lock);
    made->next = team->contexts;
    team->contexts = made;
    pthread_mutex_unlock(&contexts_lock);
    *ctx = made;
    return 0;
}

void lat_ctx_destroy(shmem_ctx_t ctx)
{
    if (!ctx)
        return;
    if (ctx == SHMEM_CTX_DEFAULT)
        lat_fail("shmem_ctx_destroy", "ctx is SHMEM_CTX_DEFAULT, which lives until shmem_finalize");
    struct shmem_team_impl *team = ctx->team;
    lat_quiet("shmem_ctx_destroy", ctx);
    if (!team)
        lat_ctx_fail("shmem_ctx_destroy", ctx, 0);
    if (!ctx_unlink(&team->contexts, ctx))
        lat_fail("shmem_ctx_destroy", "ctx %p is not a context", (void *)ctx);
    ctx_release(ctx);
}

int lat_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    struct shmem_team_impl *members = ctx ? lat_ctx_of(ctx)->team : 0;
    *team = members ? lat_team_handle(members) : SHMEM_TEAM_INVALID;
    return members ? 0 : -1;
}
