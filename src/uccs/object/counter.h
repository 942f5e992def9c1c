/* Counters: how much has arrived here? (seed 003's counting puts; facts: SOS's shmemx_ct_*.)
 *
 * A counter is one cache line at every PE, found by slot number. An arrival is one addition with
 * release order after the data; a reader's acquire load therefore sees the data of all that it counts.
 *
 * Slots are handed out by a private table that every PE keeps alike (creation is collective in order), so
 * creating needs no word between PEs, and a put from a faster PE right after create finds the slot
 * ready: a slot is zero before it can be handed out again (uccs_counter_free). A handle carries the slot's
 * generation; an arrival through an old handle is not counted but raises the slot's error count.
 *
 * Arrivals, reads: any thread. Create and free: any thread, but in the same order at all PEs. */
#ifndef UCCS_OBJECT_COUNTER_H
#define UCCS_OBJECT_COUNTER_H

#include "rte/node.h"
#include "uccs/core/core.h"

#include <stdbool.h>

struct uccs_counter_line {
    cache_aligned int64_t count; /* fetch-add release by origins, acquire by the owner's readers */
    uint64_t errors;             /* arrivals through old handles */
    uint64_t coming;             /* stored by origins to fetch the line, read by nobody */
};
_Static_assert(sizeof(struct uccs_counter_line) == CACHE_LINE, "one line a counter");

/* slot + 1 in the low 16 bits, generation above; 0 is no counter. */
typedef uint64_t uccs_counter;

/* Odd while the slot is in use. Read by every arrival, written by create and free only; relaxed: who uses a
 * counter while it is made or freed is wrong anyway. */
extern uint32_t uccs_counter_generation[NODE_COUNTERS];

static lat_hot uint32_t uccs_counter_slot(uccs_counter counter)
{
    return (uint32_t)(counter & 0xffff) - 1;
}

static lat_hot bool uccs_counter_live(uccs_counter counter)
{
    uint32_t slot = uccs_counter_slot(counter);
    return lat_likely(slot < NODE_COUNTERS) && atomic_load_relaxed(&uccs_counter_generation[slot]) == counter >> 16;
}

static lat_hot struct uccs_counter_line *uccs_counter_at(uint32_t index, uint32_t slot)
{
    return (struct uccs_counter_line *)uccs_core.counters + ((size_t)index * NODE_COUNTERS + slot);
}

/* Mine. */
static inline struct uccs_counter_line *uccs_counter_mine(uccs_counter counter)
{
    return uccs_counter_at((uint32_t)uccs_core.me - uccs_core.first, uccs_counter_slot(counter));
}

/* Where the counter is at a PE of this node; null for a PE elsewhere and for an old handle. */
static lat_hot struct uccs_counter_line *uccs_counter_line_at(uccs_counter counter, int pe)
{
    uint32_t index = (uint32_t)pe - uccs_core.first;
    if (lat_unlikely(index >= uccs_core.size || !uccs_counter_live(counter)))
        return 0;
    return uccs_counter_at(index, uccs_counter_slot(counter));
}

/* Fetches the counter's line for writing while data stored before is still on its way; call it behind the data and
 * before the count. An addition waits until earlier stores have left the processor and only then fetches its line, so
 * the two transfers would follow each other. A plain store fetches its line at once, in order with the data. On
 * processors whose addition is an ordinary pair of load and store nothing is gained. */
static lat_hot void uccs_counter_coming(struct uccs_counter_line *line)
{
#if defined(__x86_64__)
    atomic_store_relaxed(&line->coming, 1); /* no partner: only its line matters */
#else
    (void)line;
#endif
}

/* Counts an arrival at a PE of this node, after everything this thread stored there or read from
 * there. False when it was not counted: an old handle (then an error is) or a PE elsewhere. */
static lat_hot bool uccs_counter_arrive(uccs_counter counter, int64_t weight, int pe)
{
    struct uccs_counter_line *line = uccs_counter_line_at(counter, pe);
    if (lat_unlikely(!line))
        return false;
    atomic_fetch_add_release(&line->count, weight); /* acquire: uccs_counter_get at the target */
    return true;
}

/* Counts the arrival of a message here, whose sender found the counter alive. This process may not have made it yet:
 * its line is zero and waits for it. Through an old handle an error is counted instead. */
void uccs_counter_arrive_here(uccs_counter counter, int64_t weight);

/* Records an arrival through an old handle at the PE. False when the PE is not on this node. */
bool uccs_counter_late(uccs_counter counter, int pe);

static inline int64_t uccs_counter_get(uccs_counter counter)
{
    return atomic_load_acquire(&uccs_counter_mine(counter)->count); /* release: uccs_counter_arrive */
}

/* 0 when all slots are in use. */
uccs_counter uccs_counter_create(void);

/* Two halves with a barrier before, between and behind: first every PE clears its own line, then the slot
 * may be handed out again. */
void uccs_counter_clear(uccs_counter counter);
void uccs_counter_release(uccs_counter counter);

/* At the end of a life: clears every line that was used, and forgets all slots. */
void uccs_counter_close(void);

#endif
