/* Counters of the public interface, on top of object/counter.h. OpenSHMEM's counters share its slots. Any thread may
 * read and wait. Open and shut are collective over the job, in the same order everywhere. */
#include "uccs/am/am.h"
#include "uccs/far/far.h"
#include "uccs/coll/coll.h"
#include "uccs/object/counter.h"

int uccs_counter_open(uccs_counter_t *counter)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!counter)
        return UCCS_ERR_INVALID;
    uccs_counter made = uccs_counter_create();
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *counter = made;
    return UCCS_OK;
}

/* All PEs meet, clear their counter, and meet again. Then the slot may be used again. */
int uccs_counter_shut(uccs_counter_t counter)
{
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    uccs_coll_meet(true);
    uccs_far_counter_clear(counter);
    uccs_coll_meet(true);
    uccs_counter_release(counter);
    return UCCS_OK;
}

int uccs_counter_read(uccs_counter_t counter, int64_t *value)
{
    if (!value)
        return UCCS_ERR_INVALID;
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    *value = uccs_counter_get(counter);
    return UCCS_OK;
}

/* Makes progress once. Returns UCCS_OK, or an error: UCCS_ERR_STALE when the counter is shut, UCCS_ERR_STATE in a
 * handler. The caller must then stop waiting. */
static int go_on(uccs_counter_t counter, struct uccs_wait *wait)
{
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    uccs_am_serve(wait);
    return UCCS_OK;
}

int uccs_counter_wait(uccs_counter_t counter, int64_t at_least)
{
    struct uccs_wait wait = {0};
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    int status = UCCS_OK;
    while (status == UCCS_OK && uccs_counter_get(counter) < at_least)
        status = go_on(counter, &wait);
    return status;
}

/* Subtracts by compare and swap. Arrivals in between only make it try again, and it takes the value exactly once. */
int uccs_counter_consume(uccs_counter_t counter, int64_t value)
{
    struct uccs_wait wait = {0};
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    if (value < 0)
        return UCCS_ERR_INVALID;
    struct uccs_counter_line *line = uccs_counter_mine(counter);
    int64_t count = atomic_load_acquire(&line->count); /* release: uccs_counter_arrive */
    for (;;) {
        while (count >= value)
            if (atomic_cas_acqrel(&line->count, &count, count - value))
                return UCCS_OK;
        int status = go_on(counter, &wait);
        if (status != UCCS_OK)
            return status;
        count = atomic_load_acquire(&line->count);
    }
}
