#include "uccs/comp/counter.h"

#include "base/kind.h"
#include "uccs/core/wait_record.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

uint32_t uccs_counter_generation[NODE_JOB_COUNTERS];

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER; /* guards the slots of OpenSHMEM's and of uccs.h's counters */

/* Free slots are a stack of released slots, then the slots that were never used. They are the same at every PE. */
static uint16_t released[NODE_JOB_COUNTERS];
static uint32_t released_count, ever_used;

bool uccs_counter_late(uccs_counter counter, int pe)
{
    uint32_t index = uccs_index(pe), slot = uccs_counter_slot(counter);
    if (index >= uccs_core.pes || !uccs_counter_named(counter))
        return false;
    atomic_fetch_add_relaxed(&uccs_counter_at(index, slot)->errors, 1); /* no partner: the errors are a statistic */
    return true;
}

/* Returns the nth slot to hand out. Even slots come first, since processors fetch lines in pairs, and two counters of a
 * pair that are used in turns would disturb each other. */
static uint32_t nth_slot(uint32_t n)
{
    return n < NODE_JOB_COUNTERS / 2 ? 2 * n : 2 * n + 1 - NODE_JOB_COUNTERS;
}

/* Returns the n of nth_slot. */
static uint32_t number_of(uint32_t slot)
{
    return slot % 2 ? (slot - 1 + NODE_JOB_COUNTERS) / 2 : slot / 2;
}

void uccs_counter_reason(const void *what, struct uccs_reason *reason)
{
    const struct uccs_counter_wanted *wanted = what;
    const struct uccs_counter_line *line = uccs_counter_mine(wanted->counter);
    const uint32_t slot = uccs_counter_slot(wanted->counter);
    reason->on = uccs_reason_variable(&line->count, KIND_I64, ">=", (uint64_t)wanted->at_least);
    reason->value = (uint64_t)uccs_counter_get(wanted->counter);
    if (uccs_counter_opened(wanted->counter))
        snprintf(reason->text, sizeof reason->text, "own counter %" PRIu32, slot - NODE_JOB_COUNTERS);
    else
        snprintf(reason->text, sizeof reason->text, "counter %" PRIu32, number_of(slot));
}

bool uccs_counter_usable(uccs_counter counter, int pe)
{
    uint32_t index = uccs_index(pe);
    if (!uccs_counter_opened(counter))
        return uccs_counter_of_job(counter);
    return index >= uccs_core.pes || uccs_counter_open_at(counter, index);
}

/* Returns true when the handle of an arrival is old. A counter of the job may still be to come here. */
static bool old_here(uccs_counter counter)
{
    if (uccs_counter_opened(counter))
        return !uccs_counter_open_at(counter, uccs_core.index);
    uint32_t now = atomic_load_relaxed(&uccs_counter_generation[uccs_counter_slot(counter)]);
    return (int32_t)((uint32_t)(counter >> UCCS_COUNTER_SLOT_BITS) - now) < 0;
}

void uccs_counter_arrive_here(uccs_counter counter, int64_t weight)
{
    if (!uccs_counter_named(counter))
        return;
    if (old_here(counter))
        uccs_counter_late(counter, uccs_core.me);
    else
        atomic_fetch_add_release(&uccs_counter_mine(counter)->count, weight); /* acquire: uccs_counter_get */
}

/* Returns 0 when all slots are in use. */
static uccs_counter create_slot(void)
{
    if (!released_count && ever_used == NODE_JOB_COUNTERS)
        return 0;
    uint32_t slot = released_count ? released[--released_count] : nth_slot(ever_used++);
    uint64_t generation = uccs_counter_generation[slot] + 1;
    atomic_store_relaxed(&uccs_counter_generation[slot], (uint32_t)generation);
    return generation << UCCS_COUNTER_SLOT_BITS | (slot + 1);
}

uccs_counter uccs_counter_create(void)
{
    pthread_mutex_lock(&books);
    uccs_counter counter = create_slot();
    pthread_mutex_unlock(&books);
    return counter;
}

void uccs_counter_clear(uccs_counter counter)
{
    if (uccs_counter_opened(counter)) {
        uccs_counter_clear_open(counter);
        return;
    }
    atomic_store_relaxed(&uccs_counter_mine(counter)->count, 0); /* the barrier that follows publishes it */
    uint32_t *generation = &uccs_counter_generation[uccs_counter_slot(counter)];
    atomic_store_relaxed(generation, *generation + 1);
}

void uccs_counter_release(uccs_counter counter)
{
    if (uccs_counter_opened(counter)) {
        uccs_counter_release_open(counter);
        return;
    }
    pthread_mutex_lock(&books);
    released[released_count++] = (uint16_t)uccs_counter_slot(counter);
    pthread_mutex_unlock(&books);
}

/* Keeps the generations growing, so that handles of an earlier life stay old. */
void uccs_counter_close(void)
{
    for (uint32_t n = 0; n < ever_used; n++) {
        uint32_t slot = nth_slot(n);
        *uccs_counter_at(uccs_core.index, slot) = (struct uccs_counter_line){0};
        uccs_counter_generation[slot] += uccs_counter_generation[slot] & 1;
    }
    released_count = ever_used = 0;
    uccs_counter_close_open();
}
