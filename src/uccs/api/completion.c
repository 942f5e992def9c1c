/* Test, wait and flush of the public interface, on top of comp/request.h. Any thread.
 *
 * A waiting thread makes progress at every look, as it may have to answer the message that completes its request. */
#include "uccs/am/am.h"
#include "uccs/core/wait_record.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"
#include "uccs/comp/request.h"
#include "uccs/comp/tell.h"
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

/* Looks at a request without making progress. Returns UCCS_IN_PROGRESS, or the outcome of a complete request. */
static int look_one(uccs_request_t *request)
{
    return uccs_request_done(request) ? outcome_of(request) : UCCS_IN_PROGRESS;
}

static int look_all(uccs_request_t *requests, size_t n)
{
    int status = UCCS_OK;
    for (size_t i = 0; i < n; i++)
        if (!uccs_request_done(&requests[i]))
            return UCCS_IN_PROGRESS;
    for (size_t i = 0; i < n; i++)
        status = outcome_of(&requests[i]) == UCCS_OK ? status : UCCS_ERR_FAILED;
    return status;
}

/* Looks for a complete request. The search begins behind the request found last, so that none starves. */
static int look_any(uccs_request_t *requests, size_t n, size_t *index)
{
    size_t *turn = uccs_progress_turn_of(requests);
    for (size_t k = 0; k < n; k++) {
        size_t i = (*turn + k) % n;
        if (uccs_request_done(&requests[i])) {
            *turn = i + 1;
            *index = i;
            return outcome_of(&requests[i]);
        }
    }
    if (n)
        return UCCS_IN_PROGRESS;
    *index = SIZE_MAX;
    return UCCS_OK;
}

static int look_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    size_t found = 0;
    int status = UCCS_OK;
    for (size_t i = 0; i < n; i++)
        if (uccs_request_done(&requests[i])) {
            indices[found++] = i;
            status = outcome_of(&requests[i]) == UCCS_OK ? status : UCCS_ERR_FAILED;
        }
    if (n && !found)
        return UCCS_IN_PROGRESS;
    *count = found;
    return status;
}

int uccs_test(uccs_request_t *request)
{
    if (!request)
        return UCCS_ERR_INVALID;
    int status = look_one(request);
    if (lat_likely(status != UCCS_IN_PROGRESS))
        return status;
    uccs_progress();
    return look_one(request);
}

int uccs_test_all(uccs_request_t *requests, size_t n)
{
    if (n && !requests)
        return UCCS_ERR_INVALID;
    int status = look_all(requests, n);
    if (status != UCCS_IN_PROGRESS)
        return status;
    uccs_progress();
    return look_all(requests, n);
}

int uccs_test_any(uccs_request_t *requests, size_t n, size_t *index)
{
    if ((n && !requests) || !index)
        return UCCS_ERR_INVALID;
    int status = look_any(requests, n, index);
    if (status != UCCS_IN_PROGRESS)
        return status;
    uccs_progress();
    return look_any(requests, n, index);
}

int uccs_test_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    if ((n && (!requests || !indices)) || !count)
        return UCCS_ERR_INVALID;
    int status = look_some(requests, n, count, indices);
    if (status != UCCS_IN_PROGRESS)
        return status;
    uccs_progress();
    return look_some(requests, n, count, indices);
}

/* Pauses unless the request is complete, and returns `status`. In a handler it returns UCCS_ERR_STATE instead of
 * pausing, since other threads may wait for the handler's end. */
static int pause_or_refuse(int status, struct uccs_wait *wait)
{
    if (status != UCCS_IN_PROGRESS)
        return status;
    if (uccs_handlers_running)
        return UCCS_ERR_STATE;
    uccs_am_serve(wait);
    return UCCS_IN_PROGRESS;
}

int uccs_wait(uccs_request_t *request)
{
    const struct uccs_reason_handles these = {request, request != 0, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    int status = request ? UCCS_IN_PROGRESS : UCCS_ERR_INVALID;
    while (status == UCCS_IN_PROGRESS)
        status = pause_or_refuse(look_one(request), &wait);
    return status;
}

int uccs_wait_all(uccs_request_t *requests, size_t n)
{
    const struct uccs_reason_handles these = {requests, requests ? n : 0, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    int status = n && !requests ? UCCS_ERR_INVALID : UCCS_IN_PROGRESS;
    while (status == UCCS_IN_PROGRESS)
        status = pause_or_refuse(look_all(requests, n), &wait);
    return status;
}

int uccs_wait_any(uccs_request_t *requests, size_t n, size_t *index)
{
    const struct uccs_reason_handles these = {requests, requests ? n : 0, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    int status = (n && !requests) || !index ? UCCS_ERR_INVALID : UCCS_IN_PROGRESS;
    while (status == UCCS_IN_PROGRESS)
        status = pause_or_refuse(look_any(requests, n, index), &wait);
    return status;
}

int uccs_wait_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    const struct uccs_reason_handles these = {requests, requests ? n : 0, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    int status = (n && (!requests || !indices)) || !count ? UCCS_ERR_INVALID : UCCS_IN_PROGRESS;
    while (status == UCCS_IN_PROGRESS)
        status = pause_or_refuse(look_some(requests, n, count, indices), &wait);
    return status;
}

/* --- Completion queues, on top of comp/queue.h */

int uccs_queue_create(uccs_queue_t *queue)
{
    if (!queue)
        return UCCS_ERR_INVALID;
    struct uccs_queue *made = uccs_queue_make();
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *queue = made;
    return UCCS_OK;
}

int uccs_queue_release(uccs_queue_t queue)
{
    if (!queue)
        return UCCS_ERR_INVALID;
    uccs_queue_abandon(queue);
    return UCCS_OK;
}

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
