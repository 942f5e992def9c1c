/* Test, wait and flush of the public interface, on top of comp/request.h. Any thread.
 *
 * A waiting thread makes progress at every look, as it may have to answer the message that completes its request. */
#include "uccs/am/am.h"
#include "uccs/core/wait_record.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"
#include "uccs/comp/request.h"
#include "uccs/comp/queue.h"

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

/* What a test or wait is for, and where it puts what it has found. */
struct wanted {
    uccs_request_t *requests;
    size_t n;
    size_t *count, *indices; /* indices: of wait_any its index */
};

/* Looks at requests without making progress. Returns UCCS_IN_PROGRESS, or the outcome. */
typedef int look_function(const struct wanted *what);

static int look_all(const struct wanted *what)
{
    int status = UCCS_OK;
    for (size_t i = 0; i < what->n; i++)
        if (!uccs_request_done(&what->requests[i]))
            return UCCS_IN_PROGRESS;
    for (size_t i = 0; i < what->n; i++)
        status = outcome_of(&what->requests[i]) == UCCS_OK ? status : UCCS_ERR_FAILED;
    return status;
}

/* The search begins behind the request found last, so that none starves. */
static int look_any(const struct wanted *what)
{
    size_t *turn = uccs_progress_turn_of(what->requests);
    for (size_t k = 0; k < what->n; k++) {
        size_t i = (*turn + k) % what->n;
        if (uccs_request_done(&what->requests[i])) {
            *turn = i + 1;
            *what->indices = i;
            return outcome_of(&what->requests[i]);
        }
    }
    if (what->n)
        return UCCS_IN_PROGRESS;
    *what->indices = SIZE_MAX;
    return UCCS_OK;
}

static int look_some(const struct wanted *what)
{
    size_t found = 0;
    int status = UCCS_OK;
    for (size_t i = 0; i < what->n; i++)
        if (uccs_request_done(&what->requests[i])) {
            what->indices[found++] = i;
            status = outcome_of(&what->requests[i]) == UCCS_OK ? status : UCCS_ERR_FAILED;
        }
    if (what->n && !found)
        return UCCS_IN_PROGRESS;
    *what->count = found;
    return status;
}

static inline int test_by(look_function *look, struct wanted what)
{
    int status = look(&what);
    if (lat_likely(status != UCCS_IN_PROGRESS))
        return status;
    uccs_progress();
    return look(&what);
}

/* In a handler it returns UCCS_ERR_STATE instead of pausing, since other threads may wait for the handler's end. */
static inline int wait_by(look_function *look, struct wanted what)
{
    const struct uccs_reason_handles these = {what.requests, what.n, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    int status;
    while ((status = look(&what)) == UCCS_IN_PROGRESS) {
        if (uccs_handlers_running)
            return UCCS_ERR_STATE;
        uccs_am_serve(&wait);
    }
    return status;
}

int uccs_test(uccs_request_t *request)
{
    return request ? test_by(look_all, (struct wanted){request, 1, 0, 0}) : UCCS_ERR_INVALID;
}

int uccs_wait(uccs_request_t *request)
{
    return request ? wait_by(look_all, (struct wanted){request, 1, 0, 0}) : UCCS_ERR_INVALID;
}

int uccs_test_all(uccs_request_t *requests, size_t n)
{
    return n && !requests ? UCCS_ERR_INVALID : test_by(look_all, (struct wanted){requests, n, 0, 0});
}

int uccs_wait_all(uccs_request_t *requests, size_t n)
{
    return n && !requests ? UCCS_ERR_INVALID : wait_by(look_all, (struct wanted){requests, n, 0, 0});
}

int uccs_test_any(uccs_request_t *requests, size_t n, size_t *index)
{
    const bool wrong = (n && !requests) || !index;
    return wrong ? UCCS_ERR_INVALID : test_by(look_any, (struct wanted){requests, n, 0, index});
}

int uccs_wait_any(uccs_request_t *requests, size_t n, size_t *index)
{
    const bool wrong = (n && !requests) || !index;
    return wrong ? UCCS_ERR_INVALID : wait_by(look_any, (struct wanted){requests, n, 0, index});
}

int uccs_test_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    const bool wrong = (n && (!requests || !indices)) || !count;
    return wrong ? UCCS_ERR_INVALID : test_by(look_some, (struct wanted){requests, n, count, indices});
}

int uccs_wait_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    const bool wrong = (n && (!requests || !indices)) || !count;
    return wrong ? UCCS_ERR_INVALID : wait_by(look_some, (struct wanted){requests, n, count, indices});
}

/* --- Completion queues, on top of comp/queue.h */

int uccs_queue_poll(uccs_queue_t queue, struct uccs_entry *entries, size_t *count)
{
    if (!queue || !entries || !count || !*count)
        return UCCS_ERR_INVALID;
    size_t found = uccs_queue_take(queue, entries, *count);
    if (!found) {
        uccs_progress();
        found = uccs_queue_take(queue, entries, *count);
    }
    *count = found;
    return UCCS_OK;
}

int uccs_queue_wait(uccs_queue_t queue, struct uccs_entry *entries, size_t *count)
{
    struct uccs_wait wait uccs_scoped = {0};
    size_t found;
    if (!queue || !entries || !count || !*count)
        return UCCS_ERR_INVALID;
    while (!(found = uccs_queue_take(queue, entries, *count))) {
        if (uccs_handlers_running)
            return UCCS_ERR_STATE;
        uccs_am_serve(&wait);
    }
    *count = found;
    return UCCS_OK;
}
