/* Waits for requests, counters and words at once, with a time limit. Any thread. */
#include "base/clock.h"
#include "base/kind.h"
#include "uccs/am/am.h"
#include "uccs/comp/counter.h"
#include "uccs/core/wait.h"

struct conditions {
    const struct uccs_condition *list;
    size_t n, least;
    size_t *count, *indices; /* may be null */
};

static bool is_condition(const struct uccs_condition *one)
{
    return (one->request != 0) + (one->counter != 0) + (one->word != 0) == 1 &&
           (uintptr_t)one->word % sizeof *one->word == 0;
}

static int check_conditions(const struct conditions *all)
{
    if ((all->n && !all->list) || all->least > all->n)
        return UCCS_ERR_INVALID;
    for (size_t i = 0; i < all->n; i++)
        if (!is_condition(&all->list[i]))
            return UCCS_ERR_INVALID;
    return UCCS_OK;
}

/* Returns UCCS_OK when the condition holds, UCCS_IN_PROGRESS, or UCCS_ERR_STALE. Leaves the failure of a request for later. */
static int look_condition(const struct uccs_condition *one)
{
    bool holds;
    if (one->counter && !uccs_counter_live(one->counter))
        return UCCS_ERR_STALE;
    if (one->request)
        holds = uccs_request_done(one->request);
    else if (one->counter)
        holds = uccs_counter_get(one->counter) >= one->at_least;
    else
        holds = (int64_t)atomic_load_acquire(one->word) >= one->at_least; /* release: signals, atomics */
    return holds ? UCCS_OK : UCCS_IN_PROGRESS;
}

/* The call is about to return: the requests that hold tell their failures. */
static int outcome_of_conditions(const struct conditions *all)
{
    int status = UCCS_OK;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].request && uccs_request_done(all->list[i].request) &&
            uccs_test(all->list[i].request) != UCCS_OK)
            status = UCCS_ERR_FAILED;
    return status;
}

static int look_conditions(const struct conditions *all)
{
    size_t found = 0;
    for (size_t i = 0; i < all->n; i++) {
        const int status = look_condition(&all->list[i]);
        if (status < 0)
            return status;
        if (status == UCCS_OK && all->indices)
            all->indices[found] = i;
        found += status == UCCS_OK;
    }
    if (found < all->least)
        return UCCS_IN_PROGRESS;
    if (all->count)
        *all->count = found;
    return outcome_of_conditions(all);
}

/* Fills in the first condition that does not hold. For uccs_reason_function. */
static void reason_of_conditions(const void *what, struct uccs_reason *reason)
{
    const struct conditions *all = what;
    size_t i = 0;
    while (i < all->n && look_condition(&all->list[i]) != UCCS_IN_PROGRESS)
        i++;
    if (i == all->n)
        return;
    const struct uccs_condition *one = &all->list[i];
    if (one->request) {
        uccs_reason_handles(&(struct uccs_reason_handles){one->request, 1, 0}, reason);
    } else if (one->counter) {
        uccs_counter_reason(&(struct uccs_counter_wanted){one->counter, one->at_least}, reason);
    } else {
        reason->on = uccs_reason_variable(one->word, KIND_I64, ">=", (uint64_t)one->at_least);
        reason->value = atomic_load_relaxed(one->word);
    }
}

/* Makes progress once. Returns false when the caller must return `*status`. */
static bool go_on(const struct conditions *all, int64_t nanoseconds, uint64_t begin, struct uccs_wait *wait,
                  int *status)
{
    if (nanoseconds == 0) {
        uccs_progress();
        *status = look_conditions(all);
        return false;
    }
    if (nanoseconds > 0 && clock_nanoseconds() - begin >= (uint64_t)nanoseconds)
        return false;
    if (uccs_handlers_running) {
        *status = UCCS_ERR_STATE;
        return false;
    }
    uccs_am_serve(wait);
    *status = look_conditions(all);
    return *status == UCCS_IN_PROGRESS;
}

int uccs_wait_conditions(const struct uccs_condition *conditions, size_t n, size_t least, int64_t nanoseconds,
                         size_t *count, size_t *indices)
{
    const struct conditions all = {conditions, n, least, count, indices};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(reason_of_conditions, &all)};
    int status = check_conditions(&all);
    if (status == UCCS_OK)
        status = look_conditions(&all);
    if (status != UCCS_IN_PROGRESS)
        return status;
    const uint64_t begin = nanoseconds > 0 ? clock_nanoseconds() : 0;
    while (go_on(&all, nanoseconds, begin, &wait, &status))
        ;
    return status;
}
