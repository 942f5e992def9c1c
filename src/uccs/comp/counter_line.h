/* The lines and the handles of counters; counter.h and counter_open.h describe the counters. Any thread. */
#ifndef UCCS_COMP_COUNTER_LINE_H
#define UCCS_COMP_COUNTER_LINE_H

#include "rte/node.h"
#include "uccs/core/core.h"

#include <stdbool.h>

struct uccs_counter_line {
    cache_aligned int64_t count; /* origins add to it (release), the owner's readers load it (acquire) */
    uint64_t errors;             /* arrivals through old handles */
};
_Static_assert(sizeof(struct uccs_counter_line) == CACHE_LINE, "one line a counter");

/* Holds slot + 1 in the low bits and the generation above; 0 is no counter. */
typedef uint64_t uccs_counter;
#define UCCS_COUNTER_SLOT_BITS 20
_Static_assert(NODE_COUNTERS < 1 << UCCS_COUNTER_SLOT_BITS, "a handle holds every slot");

/* The lowest bit of the generation is 1 in every handle that was handed out. It counts as a bit of the slot here, less that 1, so a
 * handle without it, and 0, have a slot beyond all others. */
static lat_hot uint32_t uccs_counter_slot(uccs_counter counter)
{
    return ((uint32_t)counter - (1u << UCCS_COUNTER_SLOT_BITS) - 1) & ((2u << UCCS_COUNTER_SLOT_BITS) - 1);
}

/* Returns true for a counter that a group or one PE has opened. */
static inline bool uccs_counter_opened(uccs_counter counter)
{
    return uccs_counter_slot(counter) - NODE_JOB_COUNTERS < NODE_OPEN_COUNTERS;
}

static lat_hot struct uccs_counter_line *uccs_counter_at(uint32_t index, uint32_t slot)
{
    return (struct uccs_counter_line *)uccs_core.counters + ((size_t)index * NODE_COUNTERS + slot);
}

/* Returns this PE's line of the counter. */
static inline struct uccs_counter_line *uccs_counter_mine(uccs_counter counter)
{
    return uccs_counter_at(uccs_core.index, uccs_counter_slot(counter));
}

#endif
