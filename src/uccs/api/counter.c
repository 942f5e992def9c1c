/* Counters of the public interface, on top of comp/counter.h. OpenSHMEM's counters share its slots. Any thread may
 * read and wait. Open and shut are collective over the job, in the same order everywhere, or over a group, or local. */
#include "uccs/api/inner.h"
#include "uccs/proto/initiator.h"
#include "uccs/coll/coll.h"
#include "uccs/comp/threshold.h"
#include "uccs/comp/counter.h"

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
    if (!uccs_counter_live(counter) || uccs_counter_opened(counter))
        return uccs_counter_live(counter) ? UCCS_ERR_INVALID : UCCS_ERR_STALE;
    uccs_coll_meet(true);
    proto_counter_clear(counter);
    uccs_coll_meet(true);
    uccs_counter_release(counter);
    return UCCS_OK;
}

/* --- Counters of a group, and of this process alone */

int uccs_counter_open_group(uccs_group_t group, uccs_counter_t *counter)
{
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!uccs_group_of(group) || !counter)
        return UCCS_ERR_INVALID;
    const struct uccs_members members = uccs_group_members(group);
    return uccs_counter_agree(&members, counter);
}

/* Frees an opened counter, when its users are done. */
static void shut_here(uccs_counter counter)
{
    proto_counter_clear(counter);
    uccs_counter_release(counter);
}

/* Returns UCCS_OK when the counter may be shut as one that was opened. */
static int may_shut(uccs_counter_t counter)
{
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    return uccs_counter_opened(counter) ? UCCS_OK : UCCS_ERR_INVALID;
}

int uccs_counter_shut_group(uccs_group_t group, uccs_counter_t counter)
{
    int status = may_shut(counter);
    if (status != UCCS_OK)
        return status;
    if (!uccs_group_of(group))
        return UCCS_ERR_INVALID;
    uccs_quiet_all();
    proto_quiet_all();
    status = uccs_barrier(group);
    if (status == UCCS_OK)
        shut_here(counter);
    return status;
}

int uccs_counter_open_own(uccs_counter_t *counter)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!counter)
        return UCCS_ERR_INVALID;
    uccs_counter made = uccs_counter_open_here();
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *counter = made;
    return UCCS_OK;
}

int uccs_counter_shut_own(uccs_counter_t counter)
{
    int status = may_shut(counter);
    if (status == UCCS_OK)
        shut_here(counter);
    return status;
}

/* --- Reading and waiting */

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
    const struct uccs_counter_wanted wanted = {counter, at_least};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_counter_reason, &wanted)};
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
    const struct uccs_counter_wanted wanted = {counter, value};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_counter_reason, &wanted)};
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

/* Returns UCCS_OK when the counter has the value, else UCCS_IN_PROGRESS or UCCS_ERR_STALE. */
static int look_counter(uccs_counter_t counter, int64_t at_least)
{
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    return uccs_counter_get(counter) >= at_least ? UCCS_OK : UCCS_IN_PROGRESS;
}

int uccs_counter_test(uccs_counter_t counter, int64_t at_least)
{
    int status = look_counter(counter, at_least);
    if (status != UCCS_IN_PROGRESS)
        return status;
    uccs_progress();
    return look_counter(counter, at_least);
}

int uccs_counter_reset(uccs_counter_t counter, int64_t *old)
{
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    int64_t value = atomic_exchange_acqrel(&uccs_counter_mine(counter)->count, 0); /* release: uccs_counter_arrive */
    if (old)
        *old = value;
    return UCCS_OK;
}

int uccs_counter_wait_nb(uccs_counter_t counter, int64_t at_least, uccs_request_t *request)
{
    if (!request)
        return UCCS_ERR_INVALID;
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    struct uccs_request *object = uccs_request_materialise(request);
    return object && uccs_threshold_counter(counter, at_least, object) ? UCCS_OK : UCCS_ERR_NO_MEMORY;
}

int uccs_word_wait_nb(const uint64_t *word, int64_t at_least, uccs_request_t *request)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!word || (uintptr_t)word % sizeof *word || !request)
        return UCCS_ERR_INVALID;
    struct uccs_request *object = uccs_request_materialise(request);
    return object && uccs_threshold_word(word, at_least, object) ? UCCS_OK : UCCS_ERR_NO_MEMORY;
}
