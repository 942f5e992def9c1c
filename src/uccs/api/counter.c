/* Counters of the public interface, on top of comp/counter.h. OpenSHMEM's counters share its slots. Any thread may
 * read and wait. Open and shut are collective over the job, in the same order everywhere, or over a group, or local. */
#include "uccs/api/inner.h"
#include "uccs/proto/initiator.h"
#include "uccs/coll/coll.h"
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

/* Subtracts by compare and swap. Arrivals in between only make it try again, and it takes the value exactly once. */
static int consume_value(const void *what)
{
    const struct uccs_counter_wanted *wanted = what;
    if (!uccs_counter_live(wanted->counter))
        return UCCS_ERR_STALE;
    struct uccs_counter_line *line = uccs_counter_mine(wanted->counter);
    int64_t count = atomic_load_acquire(&line->count); /* release: uccs_counter_arrive */
    while (count >= wanted->at_least)
        if (atomic_cas_acqrel(&line->count, &count, count - wanted->at_least))
            return UCCS_OK;
    return UCCS_IN_PROGRESS;
}

static int look_at_counter(uccs_look_function *look, uccs_counter counter, int64_t at_least, int64_t nanoseconds)
{
    const struct uccs_counter_wanted wanted = {counter, at_least, 0};
    if (!counter)
        return UCCS_ERR_STALE;
    return uccs_look_until(look, &wanted, uccs_counter_reason, &wanted, nanoseconds);
}

int uccs_counter_wait(uccs_counter_t counter, int64_t at_least)
{
    return look_at_counter(uccs_counter_look, counter, at_least, -1);
}

int uccs_counter_test(uccs_counter_t counter, int64_t at_least)
{
    return look_at_counter(uccs_counter_look, counter, at_least, 0);
}

int uccs_counter_consume(uccs_counter_t counter, int64_t value)
{
    if (value < 0)
        return uccs_counter_live(counter) ? UCCS_ERR_INVALID : UCCS_ERR_STALE;
    return look_at_counter(consume_value, counter, value, -1);
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
    return object && uccs_threshold_add(&(struct uccs_counter_wanted){counter, at_least, 0}, object)
               ? UCCS_OK
               : UCCS_ERR_NO_MEMORY;
}

int uccs_word_wait_nb(const uint64_t *word, int64_t at_least, uccs_request_t *request)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!word || (uintptr_t)word % sizeof *word || !request)
        return UCCS_ERR_INVALID;
    struct uccs_request *object = uccs_request_materialise(request);
    return object && uccs_threshold_add(&(struct uccs_counter_wanted){0, at_least, word}, object) ? UCCS_OK
                                                                                                  : UCCS_ERR_NO_MEMORY;
}
