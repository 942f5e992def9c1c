/* OpenSHMEM's part: start and end, which the wrappers leave out, and the way to the other PEs. */
#include "of_shmem.h"

#include "shmem/check.h"

#include <pshmem.h>
#include <stdlib.h>

static struct lat_check_map map;

/* The globals count behind the heap. */
static uint64_t place_of(const void *object)
{
    uintptr_t at = (uintptr_t)object;
    if (at - map.heap.mine < map.heap.bytes)
        return at - map.heap.mine + 1;
    if (at - map.image.mine < map.image.bytes)
        return at - map.image.mine + map.heap.bytes + 1;
    return 0;
}

static void share_word(const uint64_t *mine, uint64_t *all)
{
    lat_check_meet(SHMEM_TEAM_WORLD, mine, sizeof *mine, all);
}

static void gather_parts(const void *mine, size_t bytes, void (*use)(const char *all, size_t stride, int pes))
{
    int me = pshmem_my_pe(), npes = pshmem_n_pes();
    char *all = pshmem_calloc((size_t)npes, bytes);
    if (all) {
        pshmem_putmem(all + (size_t)me * bytes, mine, bytes, 0);
        pshmem_barrier_all();
        if (me == 0)
            use(all, bytes, npes);
    }
    pshmem_free(all);
}

static const struct stats_job *describe_job(void)
{
    static struct stats_job of_shmem = {.meet = pshmem_sync_all,
                                        .share = share_word,
                                        .gather = gather_parts,
                                        .place = place_of};
    of_shmem.me = pshmem_my_pe();
    of_shmem.npes = pshmem_n_pes();
    of_shmem.one_host = pshmem_team_n_pes(SHMEM_TEAM_SHARED) == of_shmem.npes;
    lat_check_map(&map);
    return &of_shmem;
}

int stats_pe_of(shmem_ctx_t ctx, int pe)
{
    shmem_team_t team;
    if (ctx == SHMEM_CTX_DEFAULT)
        return pe;
    return pshmem_ctx_get_team(ctx, &team) ? -1 : pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

static void begin_stats(void)
{
    stats_begin(stats_has_begun() ? NULL : describe_job());
}

void(shmem_init)(void)
{
    ((void (*)(void))stats_next("shmem_init"))();
    begin_stats();
}

void(start_pes)(int npes)
{
    ((void (*)(int))stats_next("start_pes"))(npes);
    if (!stats_has_begun()) /* one of several does nothing */
        begin_stats();
}

int(shmem_init_thread)(int requested, int *provided)
{
    int status = ((int (*)(int, int *))stats_next("shmem_init_thread"))(requested, provided);
    if (status == 0)
        begin_stats();
    return status;
}

void(shmem_finalize)(void)
{
    if (!lat_check_finalized())
        stats_end(stats_is_last() ? describe_job() : NULL);
    ((void (*)(void))stats_next("shmem_finalize"))();
}
