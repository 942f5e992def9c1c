#include "stats.h"
#include "where.h"

#include <pshmem.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct stats_total total;
static struct stats_cell *cells; /* one for each PE; null before init */
static int me, npes, depth;

static void add(uint64_t *number, uint64_t more)
{
    __atomic_fetch_add(number, more, __ATOMIC_RELAXED);
}

int stats_world(shmem_ctx_t ctx, int pe)
{
    shmem_team_t team;
    if (ctx == SHMEM_CTX_DEFAULT)
        return pe;
    return pshmem_ctx_get_team(ctx, &team) ? -1 : pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

void stats_moved(const char *call, int pe, size_t bytes, uint64_t begin, const void *stored, size_t room)
{
    if (!cells || pe < 0 || pe >= npes)
        return;
    add(&cells[pe].operations, 1);
    add(&cells[pe].bytes, bytes);
    add(&total.operations, 1);
    add(&total.bytes, bytes);
    trace_add(call, begin, stats_now(), pe, bytes, stored, room);
}

/* Returns the entry of a call at a place; null when there are too many. Threads may look for one at the same time. */
static struct stats_place *find_place(const char *call, uint64_t at, bool program)
{
    for (uint64_t i = 0; i < STATS_PLACES; i++) {
        struct stats_place *place = &total.places[(at / 4 + i) % STATS_PLACES];
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&place->at, &there, at, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            place->program = program;
            strncpy(place->call, call, STATS_CALL - 1);
            return place;
        }
        if (there == at)
            return place;
    }
    return NULL;
}

void stats_waited(const char *call, const void *from, uint64_t begin, const void *awaited)
{
    uint64_t end = stats_now(), place = where_of(from);
    if (!cells)
        return;
    add(&total.waited, end - begin);
    struct stats_place *entry = find_place(call, place ? place : (uint64_t)(uintptr_t)from, place != 0);
    if (entry) {
        add(&entry->waits, 1);
        add(&entry->nanoseconds, end - begin);
    }
    trace_add(call, begin, end, -1, 0, awaited, 0);
}

static void begin(void)
{
    if (depth++)
        return;
    me = pshmem_my_pe();
    npes = pshmem_n_pes();
    trace_open(me);
    memset(&total, 0, sizeof total);
    total.began = stats_now();
    cells = calloc((size_t)npes, sizeof *cells);
}

/* Brings everything to PE 0, which prints it. */
static void end(void)
{
    size_t stride = sizeof total + (size_t)npes * sizeof *cells;
    total.lived = stats_now() - total.began;
    char *all = pshmem_calloc((size_t)npes, stride);
    if (all && cells) {
        pshmem_putmem(all + (size_t)me * stride, &total, sizeof total, 0);
        pshmem_putmem(all + (size_t)me * stride + sizeof total, cells, stride - sizeof total, 0);
        pshmem_barrier_all();
        if (me == 0 && getenv("LATERAL_STATS"))
            stats_print(all, stride, npes);
    }
    pshmem_free(all);
    trace_write(me, npes);
    free(cells);
    cells = NULL;
}

void(shmem_init)(void)
{
    pshmem_init();
    begin();
}

int(shmem_init_thread)(int requested, int *provided)
{
    int status = pshmem_init_thread(requested, provided);
    if (status == 0)
        begin();
    return status;
}

void(shmem_finalize)(void)
{
    if (depth && --depth == 0)
        end();
    pshmem_finalize();
}
