/* Rules on PE numbers, teams, contexts and active sets, and the register of live handles.
 *
 * The register is a list under one lock: handles are few, and checking may be slow. Contexts of a
 * team go with it, as the standard says. */
#include "rules.h"

#include <pthread.h>
#include <stdlib.h>

struct handle {
    shmem_ctx_t ctx;   /* a context, or null for a team */
    shmem_team_t team; /* the team, or the context's */
    struct handle *next;
};

static struct handle *handles;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(shmem_ctx_t ctx, shmem_team_t team)
{
    struct handle *one = malloc(sizeof *one);
    if (!one)
        lat_check_fail("the checking layer", "memory", "exhausted");
    pthread_mutex_lock(&lock);
    *one = (struct handle){ctx, team, handles};
    handles = one;
    pthread_mutex_unlock(&lock);
}

/* Drops the context; without one, the team and its contexts; with neither, all. */
static void drop(shmem_ctx_t ctx, shmem_team_t team)
{
    pthread_mutex_lock(&lock);
    for (struct handle **at = &handles; *at;) {
        struct handle *one = *at;
        if ((!ctx || one->ctx == ctx) && (!team || one->team == team)) {
            *at = one->next;
            if (one->ctx)
                check_sources_forget(one->ctx);
            free(one);
        } else {
            at = &one->next;
        }
    }
    pthread_mutex_unlock(&lock);
}

static bool known(shmem_ctx_t ctx, shmem_team_t team)
{
    pthread_mutex_lock(&lock);
    struct handle *one = handles;
    while (one && !(ctx ? one->ctx == ctx : !one->ctx && one->team == team))
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

void check_ctx_made(shmem_ctx_t ctx, shmem_team_t team)
{
    if (ctx != SHMEM_CTX_INVALID)
        add(ctx, team);
}

void check_ctx_gone(shmem_ctx_t ctx)
{
    if (ctx != SHMEM_CTX_INVALID)
        drop(ctx, NULL);
}

void check_team_made(shmem_team_t team)
{
    if (team != SHMEM_TEAM_INVALID)
        add(NULL, team);
}

void check_team_gone(shmem_team_t team)
{
    if (team != SHMEM_TEAM_INVALID)
        drop(NULL, team);
}

void check_all_gone(void)
{
    int initialized;
    pshmem_query_initialized(&initialized);
    if (initialized)
        return;
    drop(NULL, NULL);
    check_zones_end();
}

static int begun;

void check_begun(void)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED); /* no partner: it only counts */
    lat_check_keep_requests();
    check_thread_begun();
}

bool check_last(void)
{
    return !lat_check_finalized() && __atomic_sub_fetch(&begun, 1, __ATOMIC_RELAXED) == 0;
}

void check_finalize(const char *call)
{
    if (lat_check_finalized())
        lat_check_warn(call, "called again after the last shmem_finalize; it does nothing");
    else
        lat_check_running(call);
}

int check_pe(const char *call, int pe)
{
    int size = pshmem_n_pes();
    if (pe < 0 || pe >= size)
        lat_check_fail(call, "pe", "%d is out of range, the job has PEs 0 to %d", pe, size - 1);
    return pe;
}

void check_ctx(const char *call, shmem_ctx_t ctx)
{
    if (ctx == SHMEM_CTX_INVALID)
        lat_check_fail(call, "ctx", "is SHMEM_CTX_INVALID");
    check_ctx_or_invalid(call, ctx);
}

void check_ctx_or_invalid(const char *call, shmem_ctx_t ctx)
{
    if (ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT && !known(ctx, NULL))
        lat_check_fail(call, "ctx", "%p is not a context, or was destroyed, or its team was", (void *)ctx);
}

static shmem_team_t team_of(shmem_ctx_t ctx)
{
    shmem_team_t team;
    pshmem_ctx_get_team(ctx, &team);
    return team;
}

int check_ctx_pe(const char *call, shmem_ctx_t ctx, int pe)
{
    check_ctx(call, ctx);
    shmem_team_t team = team_of(ctx);
    int size = pshmem_team_n_pes(team);
    if (pe < 0 || pe >= size)
        lat_check_fail(call, "pe", "%d is out of range, the context's team has PEs 0 to %d", pe, size - 1);
    return team == SHMEM_TEAM_WORLD ? pe : pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

void check_sources_of(const char *call, shmem_ctx_t ctx, const int *pes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_sources_at(call, ctx, check_ctx_pe(call, ctx, pes[i]));
}

void check_team_or_invalid(const char *call, const char *argument, shmem_team_t team)
{
    if (team != SHMEM_TEAM_INVALID && team != SHMEM_TEAM_WORLD && team != SHMEM_TEAM_SHARED && !known(NULL, team))
        lat_check_fail(call, argument, "%p is not a team, or was destroyed", (void *)team);
}

int check_team(const char *call, const char *argument, shmem_team_t team)
{
    if (team == SHMEM_TEAM_INVALID)
        lat_check_fail(call, argument, "is SHMEM_TEAM_INVALID");
    check_team_or_invalid(call, argument, team);
    return pshmem_team_n_pes(team);
}

void check_root(const char *call, const char *argument, int root, int size)
{
    if (root < 0 || root >= size)
        lat_check_fail(call, argument, "%d is out of range, there are PEs 0 to %d", root, size - 1);
}

void check_pes(const char *call, const char *argument, shmem_ctx_t ctx, const int *pes, size_t count)
{
    check_local(call, argument, pes, check_bytes(call, "npes", count, sizeof *pes), _Alignof(int));
    int size = ctx == SHMEM_CTX_INVALID ? 0 : pshmem_team_n_pes(team_of(ctx));
    for (size_t i = 0; i < count && size; i++)
        if (pes[i] < 0 || pes[i] >= size)
            lat_check_fail(call, argument, "entry %zu, %d, is out of range, the team has PEs 0 to %d", i, pes[i],
                           size - 1);
}

int check_set(const char *call, int start, int logstride, int size)
{
    int all = pshmem_n_pes(), me = pshmem_my_pe();
    check_root(call, "PE_start", start, all);
    if (logstride < 0 || logstride > 30)
        lat_check_fail(call, "logPE_stride", "%d is not from 0 to 30", logstride);
    if (size < 1)
        lat_check_fail(call, "PE_size", "%d; there must be at least one PE", size);
    long last = start + ((long)(size - 1) << logstride);
    if (last >= all)
        lat_check_fail(call, "PE_size", "the last PE of the set would be %ld, the job has PEs 0 to %d", last, all - 1);
    if (me < start || me > last || (me - start) & ((1L << logstride) - 1))
        lat_check_fail(call, "PE_start", "this PE is not in the set of %d PEs from %d, stride %ld", size, start,
                       1L << logstride);
    return size;
}

void check_config(const char *call, const char *argument, const void *config, long mask, long known_bits)
{
    if (mask & ~known_bits)
        lat_check_fail(call, argument, "the mask 0x%lx has bits that are no field", mask);
    if (mask && !config)
        lat_check_fail(call, argument, "is a null pointer, but the mask 0x%lx names fields", mask);
}
