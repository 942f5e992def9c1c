#include "stats.h"
#include "base/where.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stats_total total;
static struct stats_cell *cells; /* one for each PE; null before init */
static int npes, depth;

static void add(uint64_t *number, uint64_t more)
{
    __atomic_fetch_add(number, more, __ATOMIC_RELAXED);
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

void stats_begin(const struct stats_job *job)
{
    if (depth++)
        return;
    npes = job->npes;
    trace_open(job);
    memset(&total, 0, sizeof total);
    total.began = stats_now();
    cells = calloc((size_t)npes, sizeof *cells);
}

bool stats_has_begun(void)
{
    return depth > 0;
}

bool stats_is_last(void)
{
    return depth == 1;
}

#define TRACE "trace="

/* LATERAL_STATS is "1", "trace=FILE", or "1,trace=FILE". */
static bool wants_table(void)
{
    const char *wish = getenv("LATERAL_STATS");
    return wish && strncmp(wish, TRACE, strlen(TRACE)) != 0;
}

const char *stats_trace_name(void)
{
    const char *wish = getenv("LATERAL_STATS"), *at = wish ? strstr(wish, TRACE) : NULL;
    return at && at[strlen(TRACE)] ? at + strlen(TRACE) : NULL;
}

/* Writes what was counted, with points in numbers, whatever language the program has chosen for them: others read it. */
static void stats_write(const struct stats_job *job, const char *mine, size_t bytes)
{
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), chosen = uselocale(plain);
    if (wants_table())
        job->gather(mine, bytes, stats_print);
    trace_write(job);
    uselocale(chosen);
    if (plain)
        freelocale(plain);
}

void stats_end(const struct stats_job *job)
{
    size_t cells_bytes = (size_t)npes * sizeof *cells, bytes = sizeof total + cells_bytes;
    if (!depth || --depth)
        return;
    total.lived = stats_now() - total.began;
    char *mine = calloc(1, bytes);
    if (!mine || !cells) /* the other PEs wait for this one's part */
        fprintf(stderr, "lateral: PE %d: no memory for its numbers\n", job->me), abort();
    memcpy(mine, &total, sizeof total);
    memcpy(mine + sizeof total, cells, cells_bytes);
    stats_write(job, mine, bytes);
    free(mine);
    free(cells);
    cells = NULL;
}
