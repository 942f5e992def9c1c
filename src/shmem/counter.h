/* Counting puts: data and its arrival count in one operation (Dinan et al. 2014; SOS's
 * shmemx_ct_*; man shmemx_ct). Any thread; create and free are collective.
 *
 * A counted operation orders nothing but its own data (Dinan et al. 2014, section 2.1). */
#ifndef SHMEM_COUNTER_H
#define SHMEM_COUNTER_H

#include "shmem/p2p.h"
#include "shmem/rma.h"
#include "uccs/comp/counter.h"
#include "uccs/comp/request.h"

#include <shmemx.h>

/* OpenSHMEM requests: the `_nbe` forms, and the calls that wait for them (Boehm et al. 2016; man
 * shmemx_request).
 *
 * Any thread within the rules of the handle (uccs/request.h). On the node an operation is done when the call
 * returns; the request remembers that a fence is due. */

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

static inline uccs_counter lat_ct_of(shmemx_ct_t ct)
{
    return (uccs_counter)(uintptr_t)ct;
}

/* Handles an arrival that the inline path did not count: a PE on another node, an old or invalid handle, a wrong PE. */
void lat_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, long weight, int pe);

static inline void lat_ct_arrive(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, long weight, int pe)
{
    if (lat_unlikely(!uccs_counter_arrive(lat_ct_of(ct), weight, pe)))
        lat_ct_far(call, ctx, ct, weight, pe);
}

/* To a peer on another node: data and count in one message. req may be null. */
void lat_put_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest, const void *source,
                    size_t bytes, int pe, bool blocking, shmemx_request_t *req);
void lat_get_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest, const void *source,
                    size_t bytes, int pe, bool blocking, shmemx_request_t *req);

/* The forms differ by constants: blocking or not, with a request or null. On the node they all complete in place.
 * The counter's line at the PE is found before the copy, together with the data's address. */
static lat_hot void lat_put_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                               const void *source, size_t nelems, size_t size, int pe, bool blocking,
                               shmemx_request_t *req)
{
    void *to = uccs_near(dest, pe);
    if (lat_unlikely(!to)) {
        lat_put_ct_far(call, ctx, ct, dest, source, lat_bytes(call, nelems, size), pe, blocking, req);
        return;
    }
    struct uccs_counter_line *line = uccs_counter_line_at(lat_ct_of(ct), pe);
    if (lat_likely(line != 0)) {
        lat_move_before(call, to, source, nelems, size);
        atomic_fetch_add_release(&line->count, 1); /* acquire: readers at the target */
    } else {
        lat_move(call, to, source, nelems, size);
        lat_ct_far(call, ctx, ct, 1, pe);
    }
    if (req)
        lat_stored(req);
}

/* The target's counter rises once its data has been read. */
static lat_hot void lat_get_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                               const void *source, size_t nelems, size_t size, int pe, bool blocking,
                               shmemx_request_t *req)
{
    const void *from = uccs_near(source, pe);
    if (lat_unlikely(!from)) {
        lat_get_ct_far(call, ctx, ct, dest, source, lat_bytes(call, nelems, size), pe, blocking, req);
        return;
    }
    struct uccs_counter_line *line = uccs_counter_line_at(lat_ct_of(ct), pe);
    lat_move(call, dest, from, nelems, size);
    if (lat_likely(line != 0))
        atomic_fetch_add_release(&line->count, 1); /* acquire: readers at the target */
    else
        lat_ct_far(call, ctx, ct, 1, pe);
    if (req)
        lat_stored(req);
}

void lat_ct_add_nbe(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, long weight, int pe,
                    shmemx_request_t *req);

/* The count comes behind the data, which may be any number of stores or messages. */
void lat_ct_behind(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, int pe);

static inline void lat_iput_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                               const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    lat_iput(call, ctx, dest, source, dst, sst, 1, nelems, size, pe, 0);
    lat_ct_behind(call, ctx, ct, pe);
}

static inline void lat_iget_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                               const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    lat_iget(call, ctx, dest, source, dst, sst, 1, nelems, size, pe, 0);
    lat_ct_arrive(call, ctx, ct, 1, pe);
}

static inline void lat_put_signal_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                                     const void *source, size_t nelems, size_t size, uint64_t *sig_addr,
                                     uint64_t signal, int sig_op, int pe)
{
    lat_put_signal(call, ctx, dest, source, nelems, size, sig_addr, signal, sig_op, pe, true, 0);
    lat_ct_behind(call, ctx, ct, pe);
}

#endif
