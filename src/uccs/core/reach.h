/* Memory of PEs of other nodes that this process maps, where the network can (docs/internals/onesided.md). Loads, stores and
 * the processor's atomics work there as on the node; in all other matters such a PE is far.
 *
 * Invariant: a PE's memory is reached only while no lane has messages to it that may be unanswered, so that no store
 * overtakes a message that a fence has put before it. An operation that finds it mapped and busy says so (`wanted`), and the
 * links ask for answers.
 *
 * Any thread calls uccs_reached, and the functions that add and count; the links call the others, at the start and end of a life. */
#ifndef UCCS_CORE_REACH_H
#define UCCS_CORE_REACH_H

#include "rte/node.h"
#include "uccs/core/core.h"
#include "uccs/core/memory.h"

struct uccs_reach {
    uintptr_t heap;                      /* where it is mapped here; 0: it is not. Release */
    uintptr_t image;                     /* the same of the globals */
    char *counters;                      /* the first line of its counters (comp/counter_line.h) */
    char *region;                        /* its memory of uccs.h; null: it is not mapped */
    uint64_t region_start, region_bytes; /* where that lies at the owner */
    char *rows;                          /* its row of slot 0 (team/row.h); null: its rows are not mapped */
    uint64_t step;                       /* bytes to its row of the next slot */
    uint32_t busy;   /* lanes with messages to the PE that may be unanswered; exact for who has issued them */
    uint32_t wanted; /* operations that have found it busy since it was idle; relaxed: a hint */
    bool tried;      /* under a lock of reach.c */
};

/* By PE; null: the network maps no memory. Constant between open and close. */
extern struct uccs_reach *uccs_reach;

/* Notes that an operation has found the PE busy. When many have, waits a moment until it is idle, and then returns what is
 * reached; else null. */
const struct uccs_reach *uccs_reach_want(int pe);

/* Returns what is reached of a PE now; null: nothing. */
static lat_hot const struct uccs_reach *uccs_reach_of(int pe)
{
    if (lat_likely(!uccs_reach) || (uint32_t)pe >= (uint32_t)uccs_core.npes)
        return 0;
    const struct uccs_reach *at = &uccs_reach[pe];
    if (!atomic_load_acquire(&at->heap)) /* release: uccs_reach_add */
        return 0;
    return lat_likely(!atomic_load_acquire(&at->busy)) ? at : uccs_reach_want(pe); /* release: uccs_reach_end */
}

/* Returns the address in this process of a far PE's copy of `addr`; null when it is not reached, or not now. */
static lat_hot void *uccs_reached(const void *addr, int pe)
{
    const struct uccs_reach *at = uccs_reach_of(pe);
    if (lat_likely(!at))
        return 0;
    uintptr_t offset = (uintptr_t)addr - uccs_core.heap_start;
    if (lat_likely(offset < uccs_core.heap_bytes))
        return uccs_mapped(at->heap + offset);
    offset = (uintptr_t)addr - uccs_core.image_start;
    return offset < uccs_core.image_bytes && at->image ? uccs_mapped(at->image + offset) : 0;
}

/* Returns the address in this process of memory of a far PE's region, by its address there; null as above. */
static inline char *uccs_reached_region(uint64_t address, size_t bytes, int pe)
{
    const struct uccs_reach *at = uccs_reach_of(pe);
    if (lat_likely(!at) || !at->region)
        return 0;
    const uint64_t offset = address - at->region_start;
    return offset <= at->region_bytes && bytes <= at->region_bytes - offset ? at->region + offset : 0;
}

/* Returns a word of its rows, by the offset that a message would have (link/wire.h, FAR_ROWS); null when it is not mapped. Words
 * of rows have no order with messages. */
static inline uint64_t *uccs_reached_row(int pe, uint64_t offset)
{
    const uint64_t row = (uint64_t)NODE_GROUP_LINES * CACHE_LINE;
    if (lat_likely(!uccs_reach) || !atomic_load_acquire(&uccs_reach[pe].heap) || !uccs_reach[pe].rows)
        return 0;
    return (uint64_t *)(void *)(uccs_reach[pe].rows + offset / row * uccs_reach[pe].step + offset % row);
}

/* Memory of a PE as it is mapped here, by enum uccs_memory_piece_name; null: it is not. */
struct uccs_reach_map {
    void *start;
    size_t bytes;
};

/* Returns 0, or -1 without memory. */
int uccs_reach_open(void);
/* Unmaps all, by a function of the transport. */
void uccs_reach_close(void (*leave)(void *start, size_t bytes));
/* Returns true for the first who asks for a PE in this life: it may map the PE's memory and add it. */
bool uccs_reach_try(int pe);
/* What the PE itself says of its memory: its uccs_memory_rows, and where its region begins there. */
struct uccs_reach_said {
    uint64_t row, step, region;
};
/* From now on the PE is reached if its heap and counters are there, and are as large as mine. */
void uccs_reach_add(int pe, const struct uccs_reach_map maps[UCCS_PIECES], const struct uccs_reach_said *said);
/* A lane begins to have messages to the PE that may be unanswered, or has none any more. */
static inline void uccs_reach_begin(int pe)
{
    if (uccs_reach)
        (void)atomic_fetch_add_relaxed(&uccs_reach[pe].busy, 1);
}
static inline void uccs_reach_end(int pe)
{
    if (uccs_reach && atomic_fetch_sub_acqrel(&uccs_reach[pe].busy, 1) == 1) /* acquire: uccs_reach_of */
        atomic_store_relaxed(&uccs_reach[pe].wanted, 0);
}
/* Returns true when operations would have reached the PE's memory had it not been busy. */
static inline bool uccs_reach_wanted(int pe)
{
    return uccs_reach && atomic_load_relaxed(&uccs_reach[pe].wanted);
}

#endif
