/* Waits for requests, counters and words at once, with a time limit; records of waits of a layer above. Any thread. */
#include "uccs/api/completion.h"
#include "uccs/api/inner.h"

#include "base/clock.h"
#include "rte/wait_record.h"
#include "uccs/comp/counter.h"

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

static struct uccs_counter_wanted wanted_by(const struct uccs_condition *one)
{
    return (struct uccs_counter_wanted){one->counter, one->at_least, one->word};
}

/* Returns UCCS_OK when the condition holds, UCCS_IN_PROGRESS, or UCCS_ERR_STALE. Leaves the failure of a request for later. */
static int look_condition(const struct uccs_condition *one)
{
    const struct uccs_counter_wanted wanted = wanted_by(one);
    if (!one->request)
        return uccs_counter_look(&wanted);
    return uccs_request_done(one->request) ? UCCS_OK : UCCS_IN_PROGRESS;
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

static int look_conditions(const void *what)
{
    const struct conditions *all = what;
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
    const struct uccs_counter_wanted wanted = wanted_by(one);
    if (one->request)
        uccs_reason_handles(&(struct uccs_reason_handles){one->request, 1, 0}, reason);
    else
        uccs_counter_reason(&wanted, reason);
}

int uccs_wait_conditions(const struct uccs_condition *conditions, size_t n, size_t least, int64_t nanoseconds,
                         size_t *count, size_t *indices)
{
    const struct conditions all = {conditions, n, least, count, indices};
    const int status = check_conditions(&all);
    if (status != UCCS_OK)
        return status;
    return uccs_look_until(look_conditions, &all, reason_of_conditions, &all, nanoseconds);
}

/* --- Records of waits of a layer above */

static struct node_wait_reason awaited_of(const struct uccs_waiting *what)
{
    if (what->rank < 0)
        return (struct node_wait_reason){.may_end = 1};
    return (struct node_wait_reason){.about = NODE_REASON_PES,
                                     .may_end = 1, /* the loop may do anything */
                                     .start = what->rank,
                                     .stride = what->ranks > 1 ? what->stride : 1,
                                     .size = what->ranks > 1 ? what->ranks : 1,
                                     .object = what->place,
                                     .number = what->meeting};
}

/* The clock may be younger than the caller's wait is long, by whatever clock he has measured it. */
static uint64_t time_before(double seconds)
{
    const uint64_t now = clock_nanoseconds();
    const double past = 1e9 * seconds;
    return past > 0 && past < (double)now ? now - (uint64_t)past : past > 0 ? 0 : now;
}

int uccs_waiting_begin(const struct uccs_waiting *what, double seconds)
{
    if (!what || !uccs_running())
        return 0;
    const struct node_wait_reason on = awaited_of(what);
    return (int)rte_wait_record_begin(&on, what->object, time_before(seconds), 0, 0);
}

void uccs_waiting_end(int record)
{
    if (record > 0)
        rte_wait_record_end((uint32_t)record);
}
