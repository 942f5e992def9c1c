#include "uccs/core/reach.h"

#include "base/buserror.h"
#include "base/clock.h"
#include "uccs/core/wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PATIENCE 8      /* operations in a row that find a PE busy; it and each doubling of it wait */
#define LONGEST 1000000 /* nanoseconds that they wait at most */

struct uccs_reach *uccs_reach;

static struct uccs_reach *table; /* stays when a life ends, since a thread may be looking at it */

/* What is to be unmapped. */
static struct kept {
    struct uccs_reach_map map;
    int pe;
    struct kept *next;
} * all;                                                 /* release: keep; acquire: owner_of */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `all` and what has been tried */

/* A handler of SIGBUS calls this. */
static int owner_of(uintptr_t address)
{
    for (const struct kept *kept = atomic_load_acquire(&all); kept; kept = kept->next)
        if (address - (uintptr_t)kept->map.start < kept->map.bytes)
            return kept->pe;
    return -1;
}

int uccs_reach_open(void)
{
    table = table ? table : calloc((size_t)uccs_core.npes, sizeof *table);
    uccs_reach = table;
    buserror_ask(owner_of);
    return table ? 0 : -1;
}

void uccs_reach_close(void (*leave)(void *start, size_t bytes))
{
    if (uccs_reach)
        memset(table, 0, (size_t)uccs_core.npes * sizeof *table);
    uccs_reach = 0;
    buserror_ask(0);
    while (all) {
        struct kept *kept = all;
        all = kept->next;
        leave(kept->map.start, kept->map.bytes);
        free(kept);
    }
}

/* The PE may be computing, and serve nobody. */
static const struct uccs_reach *await_idle(const struct uccs_reach *at)
{
    const uint64_t start = clock_nanoseconds();
    struct uccs_wait wait uccs_scoped = {0};
    while (atomic_load_acquire(&at->busy) && clock_nanoseconds() - start < LONGEST) /* release: uccs_reach_end */
        uccs_pause(&wait);
    return atomic_load_acquire(&at->busy) ? 0 : at;
}

/* Answers to operations that follow each other closely may always find a later one under way. */
lat_cold const struct uccs_reach *uccs_reach_want(int pe)
{
    struct uccs_reach *at = &uccs_reach[pe];
    const uint32_t times = atomic_load_relaxed(&at->wanted) + 1;
    atomic_store_relaxed(&at->wanted, times);
    return times >= PATIENCE && (times & (times - 1)) == 0 ? await_idle(at) : 0;
}

bool uccs_reach_try(int pe)
{
    pthread_mutex_lock(&lock);
    const bool first = !uccs_reach[pe].tried;
    uccs_reach[pe].tried = true;
    pthread_mutex_unlock(&lock);
    return first;
}

/* Returns false without memory. A core dump would create every page of a peer, and a forked child is no PE. */
static bool keep(int pe, const struct uccs_reach_map *map)
{
    struct kept *kept = malloc(sizeof *kept);
    if (!kept)
        return false;
    madvise(map->start, map->bytes, MADV_DONTDUMP);
    madvise(map->start, map->bytes, MADV_DONTFORK);
    pthread_mutex_lock(&lock);
    *kept = (struct kept){*map, pe, all};
    atomic_store_release(&all, kept);
    pthread_mutex_unlock(&lock);
    return true;
}

static bool is_row(const struct uccs_reach_map *area, uint64_t row, uint64_t step)
{
    const uint64_t bytes = (uint64_t)NODE_GROUP_LINES * CACHE_LINE, steps = NODE_GROUP_AREAS - 1;
    return row <= area->bytes && step <= area->bytes / steps && row + steps * step + bytes <= area->bytes;
}

static void add_region(struct uccs_reach *at, const struct uccs_reach_map *map, uint64_t start)
{
    if (start + map->bytes < start)
        return;
    at->region = map->start;
    at->region_start = start;
    at->region_bytes = map->bytes;
}

static bool must_be_whole(int piece)
{
    return piece != UCCS_PIECE_ROWS && piece != UCCS_PIECE_REGION; /* of other nodes they have other sizes */
}

void uccs_reach_add(int pe, const struct uccs_reach_map maps[UCCS_PIECES], const struct uccs_reach_said *said)
{
    struct uccs_reach *at = &uccs_reach[pe];
    struct uccs_memory_piece mine[UCCS_PIECES];
    bool there[UCCS_PIECES];
    uccs_memory_pieces(mine);
    for (int i = 0; i < UCCS_PIECES; i++)
        there[i] = maps[i].start && keep(pe, &maps[i]) && (maps[i].bytes >= mine[i].bytes || !must_be_whole(i));
    if (!there[UCCS_PIECE_HEAP] || !there[UCCS_PIECE_COUNTERS])
        return;
    at->counters = maps[UCCS_PIECE_COUNTERS].start;
    at->image = there[UCCS_PIECE_IMAGE] ? (uintptr_t)maps[UCCS_PIECE_IMAGE].start : 0;
    if (there[UCCS_PIECE_ROWS] && is_row(&maps[UCCS_PIECE_ROWS], said->row, said->step)) {
        at->rows = (char *)maps[UCCS_PIECE_ROWS].start + said->row;
        at->step = said->step;
    }
    if (there[UCCS_PIECE_REGION])
        add_region(at, &maps[UCCS_PIECE_REGION], said->region);
    atomic_store_release(&at->heap, (uintptr_t)maps[UCCS_PIECE_HEAP].start); /* acquire: uccs_reach_of */
}
