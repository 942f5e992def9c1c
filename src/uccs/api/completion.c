/* Test, wait and flush of the public interface, on top of comp/request.h; waits for requests, counters and words at once, with a time
 * limit; records of waits of a layer above. Any thread.
 *
 * A waiting thread makes progress at every look, as it may have to answer the message that completes its request. */

#include "base/clock.h"
#include "rte/wait_record.h"
#include "uccs/api/inner.h"
#include "uccs/comp/counter.h"
#include "uccs/comp/request.h"

int uccs_request_create(uccs_request_t *request)
{
    if (!request)
        return UCCS_ERR_INVALID;
    *request = UCCS_REQUEST_NULL;
    return uccs_request_materialise(request) ? UCCS_OK : UCCS_ERR_NO_MEMORY;
}

int uccs_request_release(uccs_request_t *request)
{
    if (!request)
        return UCCS_ERR_INVALID;
    uccs_request_free(request);
    return UCCS_OK;
}

int uccs_request_combine(uccs_request_t *into, size_t n, uccs_request_t *requests)
{
    if (!into || (n && !requests))
        return UCCS_ERR_INVALID;
    uccs_request_merge(into, n, requests);
    return UCCS_OK;
}

/* Returns UCCS_OK, or UCCS_ERR_FAILED when the complete request failed. Reports a failure once. */
static int outcome_of(const uccs_request_t *request)
{
    struct uccs_request *object = uccs_request_object(*request);
    if (lat_likely(!object ||
                   !atomic_load_relaxed(&object->error))) /* the count published it; `done` has read the count */
        return UCCS_OK;
    return atomic_exchange_acqrel(&object->error, 0) ? UCCS_ERR_FAILED : UCCS_OK; /* several threads may look */
}

int uccs_look_until(uccs_look_function *look, const void *what, uccs_fill_function *fill, const void *about,
                    int64_t nanoseconds)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(fill, about)};
    const uint64_t begin = nanoseconds > 0 ? clock_nanoseconds() : 0;
    int status = look(what);
    if (nanoseconds == 0 && status == UCCS_IN_PROGRESS) {
        uccs_progress();
        return look(what);
    }
    while (status == UCCS_IN_PROGRESS) {
        if (nanoseconds > 0 && clock_nanoseconds() - begin >= (uint64_t)nanoseconds)
            return UCCS_IN_PROGRESS;
        if (uccs_handlers_running)
            return UCCS_ERR_STATE;
        uccs_am_serve(&wait);
        status = look(what);
    }
    return status;
}

/* --- Requests */

struct wanted {
    uccs_request_t *requests;
    size_t n;
    size_t *count, *indices; /* indices: of wait_any its index */
};

static int look_one(const void *what)
{
    const struct wanted *w = what;
    return uccs_request_done(w->requests) ? outcome_of(w->requests) : UCCS_IN_PROGRESS;
}

static int look_all(const void *what)
{
    const struct wanted *w = what;
    int status = UCCS_OK;
    for (size_t i = 0; i < w->n; i++)
        if (!uccs_request_done(&w->requests[i]))
            return UCCS_IN_PROGRESS;
    for (size_t i = 0; i < w->n; i++)
        status = outcome_of(&w->requests[i]) == UCCS_OK ? status : UCCS_ERR_FAILED;
    return status;
}

/* The search begins behind the request found last, so that none starves. */
static int look_any(const void *what)
{
    const struct wanted *w = what;
    size_t *turn = uccs_progress_turn_of(w->requests);
    for (size_t k = 0; k < w->n; k++) {
        size_t i = (*turn + k) % w->n;
        if (uccs_request_done(&w->requests[i])) {
            *turn = i + 1;
            *w->indices = i;
            return outcome_of(&w->requests[i]);
        }
    }
    if (w->n)
        return UCCS_IN_PROGRESS;
    *w->indices = SIZE_MAX;
    return UCCS_OK;
}

static int look_some(const void *what)
{
    const struct wanted *w = what;
    size_t found = 0;
    int status = UCCS_OK;
    for (size_t i = 0; i < w->n; i++)
        if (uccs_request_done(&w->requests[i])) {
            w->indices[found++] = i;
            status = outcome_of(&w->requests[i]) == UCCS_OK ? status : UCCS_ERR_FAILED;
        }
    if (w->n && !found)
        return UCCS_IN_PROGRESS;
    *w->count = found;
    return status;
}

static inline int look_requests(uccs_look_function *look, struct wanted what, int64_t nanoseconds)
{
    const struct uccs_reason_handles these = {what.requests, what.n, 0};
    if (what.n && !what.requests)
        return UCCS_ERR_INVALID;
    const int status = look(&what); /* without a call, where the requests are complete */
    return lat_likely(status != UCCS_IN_PROGRESS)
               ? status
               : uccs_look_until(look, &what, uccs_reason_handles, &these, nanoseconds);
}

int uccs_test(uccs_request_t *request)
{
    return look_requests(look_one, (struct wanted){request, 1, 0, 0}, 0);
}

int uccs_wait(uccs_request_t *request)
{
    return look_requests(look_one, (struct wanted){request, 1, 0, 0}, -1);
}

int uccs_test_all(uccs_request_t *requests, size_t n)
{
    return look_requests(look_all, (struct wanted){requests, n, 0, 0}, 0);
}

int uccs_wait_all(uccs_request_t *requests, size_t n)
{
    return look_requests(look_all, (struct wanted){requests, n, 0, 0}, -1);
}

int uccs_test_any(uccs_request_t *requests, size_t n, size_t *index)
{
    return index ? look_requests(look_any, (struct wanted){requests, n, 0, index}, 0) : UCCS_ERR_INVALID;
}

int uccs_wait_any(uccs_request_t *requests, size_t n, size_t *index)
{
    return index ? look_requests(look_any, (struct wanted){requests, n, 0, index}, -1) : UCCS_ERR_INVALID;
}

static int look_for_some(const struct wanted *what, int64_t nanoseconds)
{
    return (what->n && !what->indices) || !what->count ? UCCS_ERR_INVALID
                                                       : look_requests(look_some, *what, nanoseconds);
}

int uccs_test_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    return look_for_some(&(struct wanted){requests, n, count, indices}, 0);
}

int uccs_wait_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    return look_for_some(&(struct wanted){requests, n, count, indices}, -1);
}

/* --- Completion queues, on top of comp/request.h */

struct wanted_entries {
    struct uccs_queue *queue;
    struct uccs_entry *entries;
    size_t *count; /* the room, then the number that was found */
};

static int look_queue(const void *what)
{
    const struct wanted_entries *w = what;
    const size_t found = uccs_queue_take(w->queue, w->entries, *w->count);
    if (!found)
        return UCCS_IN_PROGRESS;
    *w->count = found;
    return UCCS_OK;
}

static void no_reason(const void *about, struct uccs_reason *reason)
{
    (void)about, (void)reason;
}

static int look_at_queue(const struct wanted_entries *what, int64_t nanoseconds)
{
    if (!what->queue || !what->entries || !what->count || !*what->count)
        return UCCS_ERR_INVALID;
    return uccs_look_until(look_queue, what, no_reason, 0, nanoseconds);
}

int uccs_queue_poll(uccs_queue_t queue, struct uccs_entry *entries, size_t *count)
{
    const int status = look_at_queue(&(struct wanted_entries){queue, entries, count}, 0);
    if (status != UCCS_IN_PROGRESS)
        return status;
    *count = 0;
    return UCCS_OK;
}

int uccs_queue_wait(uccs_queue_t queue, struct uccs_entry *entries, size_t *count)
{
    return look_at_queue(&(struct wanted_entries){queue, entries, count}, -1);
}

/* --- Several conditions at once */

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
