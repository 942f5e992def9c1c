/* Counters count arrivals at this PE (the counting puts of Dinan et al. 2014; SOS's shmemx_ct_*).
 *
 * A counter is one cache line at every PE, found by slot number. An origin counts an arrival by one addition with
 * release order after the data, so a reader's acquire load sees the data of all arrivals that it counts. A handle carries the
 * slot's generation; an arrival through an old handle is not counted but raises the slot's error count.
 *
 * Counters of the job: each PE takes slots from a private table, which is the same at every PE because all PEs create
 * counters in the same order. So creating needs no message between PEs. A put from a faster PE right after create finds the
 * slot ready, because a slot is zero before it can be handed out again (uccs_counter_clear).
 *
 * Counters that a group or one PE has opened: their slots lie in another part of the table, and each PE has the generations of
 * that part in shared memory, where peers check the handle; the lines of generations change seldom, so they stay in the peers'
 * caches. The members of a group agree on a slot that is free at all of them (uccs_agree).
 *
 * Any thread may count arrivals and read. Any thread may create, open and free, but those of the job in the same order at all
 * PEs. */
#ifndef UCCS_COMP_COUNTER_H
#define UCCS_COMP_COUNTER_H

#include "rte/node.h"
#include "uccs/comp/request.h"
#include "uccs/core/core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the members of a group or team agree on a number that is free at all of them: the slot of a counter, the id of a context, the
 * area of a new team.
 *
 * They agree in rounds. In one they look at a window of numbers, each says which of them are free there, and each takes the first
 * that is free at all. In the next each says how that went. A member may fail to take the number because another thread was
 * faster; then all give it back and try again from another place, which differs from group to group, so that groups that meet in
 * several processes part after a few rounds. Any thread; one at a time for a group. */

enum { UCCS_AGREE_WORDS = 4 };

/* join replaces each of n words, at most UCCS_AGREE_WORDS, by the AND, or the maximum, of all members' words. It returns UCCS_OK or an
 * error, the same at all members. Several groups may agree at once, each on its own number: join then takes the AND over one of them, and the
 * maximum over all, which get a number each or none. */
struct uccs_members {
    int (*join)(void *members, uint64_t *words, size_t n, bool maximum);
    void *members;
    uint32_t salt; /* the same at all members, other for other groups */
};

/* first, which may be null, returns the first window with a free number; list fills in a bit for each free number of a window.
 * take returns 0 when another thread was faster, else a value of the caller's choice. */
struct uccs_numbers {
    uint32_t windows, each; /* each: numbers of a window, at most 64 * UCCS_AGREE_WORDS */
    void *what;             /* for the functions */
    uint32_t (*first)(void);
    void (*list)(void *what, uint32_t window, uint64_t *words);
    uint64_t (*take)(void *what, uint32_t number);
    void (*give_back)(void *what, uint32_t number);
};

/* Collective. On return each member has taken `number`, and `value` is the highest of their values. Returns UCCS_OK, UCCS_ERR_NO_MEMORY
 * when no number is free at all members, or join's error. */
int uccs_agree(const struct uccs_members *members, const struct uccs_numbers *numbers, uint32_t *number,
               uint64_t *value);

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

/* Moves to this PE's lines what a network has counted (proto/key.c); null where none counts. Release: who sets it; acquire: readers. */
extern int (*uccs_counter_collect)(void *unused);

/* Returns this PE's line of the counter, with all that has been counted. */
static inline struct uccs_counter_line *uccs_counter_mine(uccs_counter counter)
{
    int (*const collect)(void *) = atomic_load_acquire(&uccs_counter_collect);
    if (lat_unlikely(collect != 0))
        collect(0);
    return uccs_counter_at(uccs_core.index, uccs_counter_slot(counter));
}

/* Generations of the job's counters, odd while the slot is in use. Every arrival reads it, only create and free write
 * it. Relaxed, because a program that uses a counter while it creates or frees it is wrong anyway. */
extern uint32_t uccs_counter_generation[NODE_JOB_COUNTERS];

/* Returns true when the handle names a slot at all. */
static inline bool uccs_counter_named(uccs_counter counter)
{
    return uccs_counter_slot(counter) < NODE_JOB_COUNTERS + NODE_OPEN_COUNTERS;
}

/* Returns true for a counter of the job that is in use. */
static lat_hot bool uccs_counter_of_job(uccs_counter counter)
{
    uint32_t slot = uccs_counter_slot(counter);
    return lat_likely(slot < NODE_JOB_COUNTERS) &&
           atomic_load_relaxed(&uccs_counter_generation[slot]) == counter >> UCCS_COUNTER_SLOT_BITS;
}

/* Returns true when an opened counter is in use at a PE of this node. */
bool uccs_counter_open_at(uccs_counter counter, uint32_t index);

/* Returns true when the counter is in use at this PE. */
static inline bool uccs_counter_live(uccs_counter counter)
{
    return lat_likely(uccs_counter_of_job(counter)) || uccs_counter_open_at(counter, uccs_core.index);
}

/* Returns false when an operation may not carry the counter to the PE, because it is an old handle. A PE of another
 * node judges opened counters when the operation arrives. */
bool uccs_counter_usable(uccs_counter counter, int pe);

/* Returns the line of a counter of the job at a PE of this node; null for a PE of another node, an old handle, and a
 * counter that was opened. */
static lat_hot struct uccs_counter_line *uccs_counter_line_at(uccs_counter counter, int pe)
{
    uint32_t index = (uint32_t)pe - uccs_core.first;
    if (lat_unlikely(index >= uccs_core.size) && (index = uccs_index(pe)) >= uccs_core.pes)
        return 0;
    if (lat_unlikely(!uccs_counter_of_job(counter)))
        return 0;
    return uccs_counter_at(index, uccs_counter_slot(counter));
}

/* uccs_counter_arrive for a counter that was opened. */
lat_cold bool uccs_counter_arrive_open(uccs_counter counter, int64_t weight, int pe);

/* Counts an arrival at a PE of this node, after everything that this thread stored there or read from there. Returns
 * false when it counted nothing, because the handle is old (uccs_counter_late counts the error) or the PE is on another
 * node. */
static lat_hot bool uccs_counter_arrive(uccs_counter counter, int64_t weight, int pe)
{
    struct uccs_counter_line *line = uccs_counter_line_at(counter, pe);
    if (lat_unlikely(!line))
        return uccs_counter_arrive_open(counter, weight, pe);
    atomic_fetch_add_release(&line->count, weight); /* acquire: uccs_counter_get at the target */
    return true;
}

/* Returns true when the handle names no counter of this PE any more; one of the job may still be to come. */
bool uccs_counter_is_old(uccs_counter counter);

/* Counts the arrival of a message at this PE; its sender has found the counter alive. This process may not have created
 * the counter yet; the line is zero already, so it can count. If the handle is old by now, counts an error instead. */
void uccs_counter_arrive_here(uccs_counter counter, int64_t weight);

/* Counts an arrival through an old handle as an error at the PE. Returns false when the PE is not on this node, or the
 * handle names no slot. */
bool uccs_counter_late(uccs_counter counter, int pe);

static inline int64_t uccs_counter_get(uccs_counter counter)
{
    return atomic_load_acquire(&uccs_counter_mine(counter)->count); /* release: uccs_counter_arrive */
}

/* What a wait is for: a counter of this PE, or a word of this process, which counts as signed, is at least a threshold. */
struct uccs_counter_wanted {
    uccs_counter counter; /* 0: the word */
    int64_t at_least;
    const uint64_t *word;
};
/* Both take a struct uccs_counter_wanted. look returns UCCS_OK, UCCS_IN_PROGRESS, or UCCS_ERR_STALE when the counter is not in use;
 * reason is for uccs_reason_function (core/wait_record.h). */
int uccs_counter_look(const void *what);
struct uccs_reason;
void uccs_counter_reason(const void *what, struct uccs_reason *reason);

/* Returns a new counter, or 0 when all slots are in use. */
uccs_counter uccs_counter_create(void);

/* Opens a counter at this PE alone. Returns 0 when no slot is free. */
uccs_counter uccs_counter_open_here(void);
/* Collective over the members. Opens a counter at all of them, and on return every member may count at every member.
 * Returns UCCS_OK, UCCS_ERR_NO_MEMORY when no slot is free at all members, or the error of the members' join. */
int uccs_counter_agree(const struct uccs_members *members, uccs_counter *counter);

/* The two halves of freeing a counter. The caller makes a barrier before, between and after them: first every PE clears
 * its own line, then every PE may hand out the slot again. A counter that was opened needs only the first barrier: the
 * PEs that count there must be done. */
void uccs_counter_clear(uccs_counter counter);
void uccs_counter_release(uccs_counter counter);

/* Clears every line of this PE that was used, and forgets all slots, at the end of a life. */
void uccs_counter_close(void);

/* Requests on counters and words: such a request completes when the counter, or a word of this process, has reached a
 * number, so that a program can wait for it and for operations at once.
 *
 * The thresholds that nobody has reached are on one list. While the list is not empty, it is a source of progress (core/progress.h):
 * every wait, test and progress call looks at it, on any thread. Any thread. */

/* The request, an object, counts one operation until the counter or word reaches the threshold. The operation fails when the
 * counter is shut first, or when the life ends. A word must exist until then. Returns false when memory is exhausted. */
bool uccs_threshold_add(const struct uccs_counter_wanted *what, struct uccs_request *request);

/* Fills in the first counter or word that the request waits for. Returns false when there is none. For uccs_request_reason_add. */
bool uccs_threshold_tell(const struct uccs_request *request, struct uccs_reason *reason);

/* Fails the operations of thresholds that nobody has reached, at the end of a life. */
void uccs_threshold_close(void);

#endif
