/* OpenSHMEM requests: the `_nbe` forms, and the calls that wait for them (Boehm et al. 2016; man
 * shmemx_request).
 *
 * Any thread within the rules of the handle (uccs/request.h). On the node an operation is done when the call
 * returns; the request remembers that a fence is due. */
#ifndef SHMEM_REQUEST_H
#define SHMEM_REQUEST_H

#include "shmem/rma.h"
#include "shmem/signal.h"
#include "shmem/strided.h"
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
        lat_put_nb_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, req);
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
        lat_get_nb_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, req);
        return;
    }
    lat_loaded(req);
    lat_move(call, dest, from, nelems, size);
}

static inline void lat_iput_nbe(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size, int pe, shmemx_request_t *req)
{
    if (lat_iput(call, ctx, dest, source, dst, sst, nelems, size, pe, req))
        lat_stored(req);
}

static inline void lat_iget_nbe(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size, int pe, shmemx_request_t *req)
{
    if (lat_iget(call, ctx, dest, source, dst, sst, nelems, size, pe, req))
        lat_loaded(req);
}

int lat_request_create(long options, shmemx_request_t *req);
void lat_request_free(shmemx_request_t *req);
void lat_request_merge(shmemx_request_t *into, size_t n, shmemx_request_t *reqs);
void lat_request_fence(shmemx_request_t *req);
size_t lat_request_pending(shmemx_request_t req);

void lat_request_wait(shmemx_request_t *req);
void lat_request_wait_free(shmemx_request_t *req);
void lat_request_wait_all_free(shmemx_request_t *reqs, size_t nreqs, const int *status);
int lat_request_test_slow(shmemx_request_t *req);
void lat_request_wait_local(shmemx_request_t *req);
int lat_request_test_local(shmemx_request_t *req);
void lat_request_wait_all(shmemx_request_t *reqs, size_t nreqs, const int *status);
size_t lat_request_wait_any(shmemx_request_t *reqs, size_t nreqs, const int *status);
size_t lat_request_wait_some(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status);
int lat_request_test_all(shmemx_request_t *reqs, size_t nreqs, const int *status);
size_t lat_request_test_any(shmemx_request_t *reqs, size_t nreqs, const int *status);
size_t lat_request_test_some(shmemx_request_t *reqs, size_t nreqs, size_t *indices, const int *status);

/* Testing a completed request costs one load. */
static inline int lat_request_test(shmemx_request_t *req)
{
    return lat_likely(*req == UCCS_REQUEST_CLEAN) || lat_request_test_slow(req);
}

#endif
