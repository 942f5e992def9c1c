/* OpenSHMEM requests: the `_nbe` forms, and the calls that wait for them (Boehm et al. 2016; man
 * shmemx_request).
 *
 * Any thread within the rules of the handle (uccs/request.h). On the node an operation is done when the call
 * returns; the request remembers that a fence is due. */
#ifndef SHMEM_REQUEST_H
#define SHMEM_REQUEST_H

#include "shmem/p2p.h"
#include "shmem/rma.h"
#include "shmem/signal.h"
#include "uccs/comp/request.h"

#include <shmemx.h>

/* Thunks call one of these after an operation on `req`: the operation stored, or it only loaded. */
static lat_hot void lat_stored(shmemx_request_t *req)
{
    uccs_request_stored(req);
}

static lat_hot void lat_loaded(shmemx_request_t *req)
{
    uccs_request_loaded(req);
}

/* The copy comes last, so that the compiler can jump to it and needs no frame: a handle without an object is marked
 * before it. An object's mark must come after the stores that it stands for. */
static lat_hot void lat_put_nbe(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                size_t nelems, size_t size, int pe, shmemx_request_t *req)
{
    void *to = uccs_near(dest, pe);
    if (lat_unlikely(!to)) {
        lat_put_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, 0, false, req);
        return;
    }
    if (lat_unlikely(uccs_request_object(*req) != 0)) {
        lat_move(call, to, source, nelems, size);
        lat_stored(req);
        return;
    }
    *req = UCCS_REQUEST_DIRTY;
    lat_move(call, to, source, nelems, size);
}

static lat_hot void lat_get_nbe(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                size_t nelems, size_t size, int pe, shmemx_request_t *req)
{
    const void *from = uccs_near(source, pe);
    if (lat_unlikely(!from)) {
        lat_get_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, 0, false, req);
        return;
    }
    lat_loaded(req);
    lat_move(call, dest, from, nelems, size);
}

/* Completed at the target, or `locally`. */
void lat_request_wait(shmemx_request_t *req, bool locally);
int lat_request_test_slow(const char *call, shmemx_request_t *req, bool locally);

/* Of sets (p2p.h); `indices` is used by LAT_SOME. */
size_t lat_requests_test(enum lat_which which, shmemx_request_t *reqs, size_t nreqs, size_t *indices,
                         const int *status);
size_t lat_requests_wait(enum lat_which which, shmemx_request_t *reqs, size_t nreqs, size_t *indices,
                         const int *status);

/* Testing a completed request costs one load. */
static inline int lat_request_test(const char *call, shmemx_request_t *req, bool locally)
{
    return lat_likely(*req == UCCS_REQUEST_CLEAN) || lat_request_test_slow(call, req, locally);
}

#endif
