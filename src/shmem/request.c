#include "shmem/request.h"

#include "shmem/calls.h"
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
 * may hold operations of several contexts, so all workers are fenced. */
void lat_request_fence(shmemx_request_t *req)
{
    (void)req;
    if (lat_unlikely(proto_active))
        proto_fence_all();
    uccs_fence_stores();
}

static inline bool is_done(shmemx_request_t *req, bool locally)
{
    return locally ? uccs_request_done_locally(req) : uccs_request_done(req);
}

int lat_request_test_slow(const char *call, shmemx_request_t *req, bool locally)
{
    lat_require(call);
    const bool done = is_done(req, locally);
    if (!done)
        uccs_missed();
    return done;
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

/* --- Sets (p2p.h) */

/* The first that needs a fence issues it for all. */
static bool request_holds(struct lat_set *set, size_t i)
{
    shmemx_request_t *req = (shmemx_request_t *)set->members + i;
    if (*req != UCCS_REQUEST_DIRTY)
        return uccs_request_done(req);
    if (!set->fenced)
        uccs_quiet();
    set->fenced = true;
    *req = UCCS_REQUEST_CLEAN;
    return true;
}

size_t lat_requests_test(enum lat_which which, shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    struct lat_set set = {.holds = request_holds,
                          .members = reqs,
                          .n = nreqs,
                          .status = status,
                          .turn = uccs_progress_turn_of(reqs)};
    return lat_set_test(&set, which, indices);
}

size_t lat_requests_wait(enum lat_which which, shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status)
{
    const struct uccs_reason_handles these = {reqs, nreqs, status};
    struct lat_set set = {.holds = request_holds,
                          .members = reqs,
                          .n = nreqs,
                          .status = status,
                          .turn = uccs_progress_turn_of(reqs),
                          .on = uccs_reason_function(uccs_reason_handles, &these)};
    return lat_set_wait(&set, which, indices);
}

void lat_request_wait_all_free(shmemx_request_t *reqs, size_t nreqs, const int *status)
{
    (void)lat_requests_wait(LAT_ALL, reqs, nreqs, 0, status);
    for (size_t i = 0; i < nreqs; i++)
        if (!status || status[i] == 0)
            uccs_request_free(&reqs[i]);
}
