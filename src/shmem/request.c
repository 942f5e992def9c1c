#include "shmem/request.h"

#include "shmem/calls.h"
#include "shmem/p2p.h"
#include "uccs/core/wait.h"
#include "uccs/proto/initiator.h"

int lat_request_create(long options, shmemx_request_t *req)
{
    *req = SHMEMX_REQUEST_NULL;
    if (options != SHMEMX_REQUEST_SHARED && options != SHMEMX_REQUEST_PRIVATE)
        return -1;
    /* A private request needs no object until something is pending: the variable is the request. */
    if (options == SHMEMX_REQUEST_PRIVATE) {
        *req = UCCS_REQUEST_CLEAN;
        return 0;
    }
    return uccs_request_materialise(req) ? 0 : -1;
}

/* On the node operations are issued in order, and a release fence keeps later ones behind earlier ones. A request
 * may hold operations of several contexts, so all lanes are fenced. */
void lat_request_fence(shmemx_request_t *req)
{
    (void)req;
    if (lat_unlikely(proto_active))
        proto_fence_all();
    uccs_fence_stores();
}

/* What a test answers: one that found nothing gives the core away where PEs have to share it. */
static int answer_test(bool found)
{
    if (!found)
        uccs_missed();
    return found;
}

static inline bool is_done(shmemx_request_t *req, bool locally)
{
    return locally ? uccs_request_done_locally(req) : uccs_request_done(req);
}

int lat_request_test_slow(const char *call, shmemx_request_t *req, bool locally)
{
    lat_require(call);
    return answer_test(is_done(req, locally));
}

void lat_request_wait(shmemx_request_t *req, bool locally)
{
    const struct uccs_reason_handles this = {req, 1, 0};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &this)};
    while (!is_done(req, locally))
        uccs_pause(&wait);
}

void lat_request_wait_free(shmemx_request_t *req)
{
    lat_request_wait(req, false);
    uccs_request_free(req);
}

/* --- Sets work as in wait_until_all, _any and _some: status excludes members, an empty set is satisfied at once, and `any` begins
 * behind the member that it found last, so that no member starves. */

/* Tests one request of a set. The first that needs a fence issues it for all. */
static inline bool one_done(shmemx_request_t *req, bool *fenced)
{
    if (*req != UCCS_REQUEST_DIRTY)
        return uccs_request_done(req);
    if (!*fenced)
        uccs_quiet();
    *fenced = true;
    *req = UCCS_REQUEST_CLEAN;
    return true;
}

static bool all_done(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    bool all = true, fenced = false;
    for (size_t i = 0; i < nreqs; i++)
        if (lat_set_has(status, i))
            all &= one_done(&reqs[i], &fenced);
    return all;
}

static size_t any_done(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    size_t *turn = uccs_progress_turn_of(reqs);
    for (size_t n = 0; n < nreqs; n++) {
        size_t i = (*turn + n) % nreqs;
        if (lat_set_has(status, i) && uccs_request_done(&reqs[i])) {
            *turn = i + 1;
            return i;
        }
    }
    return SIZE_MAX;
}

static size_t some_done(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    size_t count = 0;
    bool fenced = false;
    for (size_t i = 0; i < nreqs; i++)
        if (lat_set_has(status, i) && one_done(&reqs[i], &fenced))
            indices[count++] = i;
    return count;
}

int lat_request_test_all(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    return answer_test(all_done(reqs, nreqs, status));
}

size_t lat_request_test_any(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    size_t found = any_done(reqs, nreqs, status);
    answer_test(found != SIZE_MAX);
    return found;
}

size_t lat_request_test_some(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    size_t count = some_done(reqs, nreqs, indices, status);
    answer_test(count != 0);
    return count;
}

void lat_request_wait_all(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    const struct uccs_reason_handles these = {reqs, nreqs, status};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    while (!all_done(reqs, nreqs, status))
        uccs_pause(&wait);
}

void lat_request_wait_all_free(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    lat_request_wait_all(reqs, nreqs, status);
    for (size_t i = 0; i < nreqs; i++)
        if (lat_set_has(status, i))
            uccs_request_free(&reqs[i]);
}

size_t lat_request_wait_any(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    const struct uccs_reason_handles these = {reqs, nreqs, status};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    size_t found = SIZE_MAX;
    while (!lat_set_is_empty(nreqs, status) && (found = any_done(reqs, nreqs, status)) == SIZE_MAX)
        uccs_pause(&wait);
    return found;
}

size_t lat_request_wait_some(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    const struct uccs_reason_handles these = {reqs, nreqs, status};
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(uccs_reason_handles, &these)};
    size_t count = 0;
    while (!lat_set_is_empty(nreqs, status) && (count = some_done(reqs, nreqs, indices, status)) == 0)
        uccs_pause(&wait);
    return count;
}
