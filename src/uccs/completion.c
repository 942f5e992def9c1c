/* Test, wait and flush of the public interface, over uccs/request.h. Any thread.
 *
 * A waiting thread makes progress at every look: what it waits for may be a message that it must answer. */
#include "uccs/am.h"
#include "uccs/context.h"
#include "uccs/counter.h"
#include "uccs/flush.h"
#include "uccs/progress.h"
#include "uccs/request.h"

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

int uccs_test(uccs_request_t *request)
{
    if (!request)
        return UCCS_ERR_INVALID;
    if (uccs_request_done(request))
        return UCCS_OK;
    uccs_progress();
    return uccs_request_done(request) ? UCCS_OK : UCCS_IN_PROGRESS;
}

int uccs_test_all(uccs_request_t *requests, size_t n)
{
    int status = UCCS_OK;
    if (n && !requests)
        return UCCS_ERR_INVALID;
    for (size_t i = 0; i < n; i++)
        if (uccs_test(&requests[i]) != UCCS_OK)
            status = UCCS_IN_PROGRESS;
    return status;
}

/* Begins behind the one found last, so that none starves. */
int uccs_test_any(uccs_request_t *requests, size_t n, size_t *index)
{
    static _Thread_local size_t turn;
    if ((n && !requests) || !index)
        return UCCS_ERR_INVALID;
    for (size_t k = 0; k < n; k++) {
        size_t i = (turn + k) % n;
        if (uccs_test(&requests[i]) == UCCS_OK) {
            turn = i + 1;
            *index = i;
            return UCCS_OK;
        }
    }
    if (n)
        return UCCS_IN_PROGRESS;
    *index = SIZE_MAX;
    return UCCS_OK;
}

int uccs_test_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    if ((n && (!requests || !indices)) || !count)
        return UCCS_ERR_INVALID;
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (uccs_test(&requests[i]) == UCCS_OK)
            indices[found++] = i;
    *count = found;
    return found || !n ? UCCS_OK : UCCS_IN_PROGRESS;
}

int uccs_wait(uccs_request_t *request)
{
    struct uccs_wait wait = {0};
    int status;
    while ((status = uccs_test(request)) == UCCS_IN_PROGRESS)
        uccs_yield(&wait);
    return status;
}

int uccs_wait_all(uccs_request_t *requests, size_t n)
{
    struct uccs_wait wait = {0};
    int status;
    while ((status = uccs_test_all(requests, n)) == UCCS_IN_PROGRESS)
        uccs_yield(&wait);
    return status;
}

int uccs_wait_any(uccs_request_t *requests, size_t n, size_t *index)
{
    struct uccs_wait wait = {0};
    int status;
    while ((status = uccs_test_any(requests, n, index)) == UCCS_IN_PROGRESS)
        uccs_yield(&wait);
    return status;
}

int uccs_wait_some(uccs_request_t *requests, size_t n, size_t *count, size_t *indices)
{
    struct uccs_wait wait = {0};
    int status;
    while ((status = uccs_test_some(requests, n, count, indices)) == UCCS_IN_PROGRESS)
        uccs_yield(&wait);
    return status;
}

/* Sources are copied before an operation returns, so nothing is ever pending locally. */
int uccs_flush_local(uccs_context_t context, const uccs_endpoint_t *endpoints, size_t n)
{
    return context && (!n || endpoints) ? UCCS_OK : UCCS_ERR_INVALID;
}

/* Node stores need one fence; messages must have been handled. */
int uccs_flush(uccs_context_t context)
{
    struct uccs_wait wait = {0};
    if (!context)
        return UCCS_ERR_INVALID;
    uccs_quiet();
    while (!uccs_am_settled(context)) {
        uccs_progress();
        uccs_yield(&wait);
    }
    return UCCS_OK;
}

int uccs_fence(uccs_context_t context)
{
    if (!context)
        return UCCS_ERR_INVALID;
    uccs_fence_stores();
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

int uccs_counter_wait(uccs_counter_t counter, int64_t at_least)
{
    struct uccs_wait wait = {0};
    if (!uccs_counter_live(counter))
        return UCCS_ERR_STALE;
    while (uccs_counter_get(counter) < at_least) {
        uccs_progress();
        uccs_yield(&wait);
    }
    return UCCS_OK;
}
