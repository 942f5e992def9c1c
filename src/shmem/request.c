#include "shmem/request.h"

#include "shmem/state.h"
#include "uccs/flush.h"
#include "uccs/progress.h"

int lat_request_create(long options, shmemx_request_t *req)
{
    lat_require("shmemx_request_create");
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

void lat_request_free(shmemx_request_t *req)
{
    lat_require("shmemx_request_free");
    uccs_request_free(req);
}

void lat_request_merge(shmemx_request_t *into, size_t n, shmemx_request_t *reqs)
{
    lat_require("shmemx_request_merge");
    uccs_request_merge(into, n, reqs);
}

/* Operations on the node are issued in order; a release fence keeps those behind it behind. */
void lat_request_fence(shmemx_request_t *req)
{
    (void)req;
    lat_require("shmemx_request_fence");
    uccs_fence_stores();
}

size_t lat_request_pending(shmemx_request_t req)
{
    lat_require("shmemx_request_pending");
    return uccs_request_pending(req);
}

int lat_request_test_slow(shmemx_request_t *req)
{
    lat_require("shmemx_request_test");
    return uccs_request_done(req);
}

void lat_request_wait(shmemx_request_t *req)
{
    struct uccs_wait wait = {0};
    lat_require("shmemx_request_wait");
    while (!uccs_request_done(req))
        uccs_pause(&wait);
}

/* Sources on the node have been read when the operation returns, and a pending collective needs its
 * source until it completes: nothing is completed locally before it is completed. */
void lat_request_wait_local(shmemx_request_t *req)
{
    struct uccs_wait wait = {0};
    lat_require("shmemx_request_wait_local");
    while (!lat_request_test_local(req))
        uccs_pause(&wait);
}

int lat_request_test_local(shmemx_request_t *req)
{
    lat_require("shmemx_request_test_local");
    return uccs_request_pending(*req) == 0 || uccs_request_done(req);
}

/* Sets: as wait_until_all, _any and _some; status excludes, an empty set is satisfied at once, and any
 * begins behind the one found last, so that none starves. */
static bool included(const int *status, size_t i)
{
    return !status || status[i] == 0;
}

static bool empty(size_t nreqs, const int *status)
{
    for (size_t i = 0; i < nreqs; i++)
        if (included(status, i))
            return false;
    return true;
}

int lat_request_test_all(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    lat_require("shmemx_request_test_all");
    int all = 1;
    for (size_t i = 0; i < nreqs; i++)
        if (included(status, i))
            all &= lat_request_test(&reqs[i]);
    return all;
}

size_t lat_request_test_any(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    lat_require("shmemx_request_test_any");
    size_t *turn = uccs_turn_of(reqs);
    for (size_t n = 0; n < nreqs; n++) {
        size_t i = (*turn + n) % nreqs;
        if (included(status, i) && lat_request_test(&reqs[i])) {
            *turn = i + 1;
            return i;
        }
    }
    return SIZE_MAX;
}

size_t lat_request_test_some(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    size_t count = 0;
    lat_require("shmemx_request_test_some");
    for (size_t i = 0; i < nreqs; i++)
        if (included(status, i) && lat_request_test(&reqs[i]))
            indices[count++] = i;
    return count;
}

void lat_request_wait_all(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    struct uccs_wait wait = {0};
    while (!lat_request_test_all(reqs, nreqs, status))
        uccs_pause(&wait);
}

size_t lat_request_wait_any(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    struct uccs_wait wait = {0};
    size_t found;
    if (empty(nreqs, status))
        return SIZE_MAX;
    while ((found = lat_request_test_any(reqs, nreqs, status)) == SIZE_MAX)
        uccs_pause(&wait);
    return found;
}

size_t lat_request_wait_some(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    struct uccs_wait wait = {0};
    size_t count;
    if (empty(nreqs, status))
        return 0;
    while ((count = lat_request_test_some(reqs, nreqs, indices, status)) == 0)
        uccs_pause(&wait);
    return count;
}
