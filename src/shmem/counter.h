/* Counting puts: data and its arrival count in one operation (seed 003; SOS's shmemx_ct_*; man
 * shmemx_ct). Any thread; create and free are collective.
 *
 * A counted operation orders nothing but its own data (seed 003 §2.1). */
#ifndef SHMEM_COUNTER_H
#define SHMEM_COUNTER_H

#include "shmem/request.h"
#include "shmem/rma.h"
#include "uccs/counter.h"

#include <shmemx.h>

static inline uccs_counter lat_ct_of(shmemx_ct_t ct)
{
    return (uccs_counter)(uintptr_t)ct;
}

/* An arrival that was not counted: an old or invalid handle, a wrong PE. */
void lat_ct_far(const char *call, shmemx_ct_t ct, long weight, int pe);

static inline void lat_ct_arrive(const char *call, shmemx_ct_t ct, long weight, int pe)
{
    if (lat_unlikely(!uccs_counter_arrive(lat_ct_of(ct), weight, pe)))
        lat_ct_far(call, ct, weight, pe);
}

/* The counter's line at the PE is found before the copy, with the data's address. */
static lat_hot void lat_put_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                               const void *source, size_t nelems, size_t size, int pe)
{
    struct uccs_counter_line *line = uccs_counter_line_at(lat_ct_of(ct), pe);
    lat_put(call, ctx, dest, source, nelems, size, pe);
    if (lat_likely(line != 0))
        atomic_fetch_add_release(&line->count, 1); /* acquire: readers at the target */
    else
        lat_ct_far(call, ct, 1, pe);
}

/* The target's counter rises once its data has been read. */
static lat_hot void lat_get_ct(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                               const void *source, size_t nelems, size_t size, int pe)
{
    struct uccs_counter_line *line = uccs_counter_line_at(lat_ct_of(ct), pe);
    lat_get(call, ctx, dest, source, nelems, size, pe);
    if (lat_likely(line != 0))
        atomic_fetch_add_release(&line->count, 1); /* acquire: readers at the target */
    else
        lat_ct_far(call, ct, 1, pe);
}

/* On the node the non-blocking forms complete in place. */
#define lat_put_ct_nbi lat_put_ct
#define lat_get_ct_nbi lat_get_ct

static lat_hot void lat_put_ct_nbe(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                                   const void *source, size_t nelems, size_t size, int pe, shmemx_request_t *req)
{
    lat_put_ct(call, ctx, ct, dest, source, nelems, size, pe);
    lat_stored(req);
}

static lat_hot void lat_get_ct_nbe(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                                   const void *source, size_t nelems, size_t size, int pe, shmemx_request_t *req)
{
    lat_get_ct(call, ctx, ct, dest, source, nelems, size, pe);
    lat_stored(req);
}

void lat_ct_create(shmemx_ct_t *ct);
void lat_ct_free(shmemx_ct_t *ct);
long lat_ct_get(shmemx_ct_t ct);
void lat_ct_set(shmemx_ct_t ct, long value);
void lat_ct_wait(shmemx_ct_t ct, long wait_for);
int lat_ct_test(shmemx_ct_t ct, long wait_for);
int lat_ct_wait_timeout(shmemx_ct_t ct, long wait_for, double seconds);
size_t lat_ct_wait_any(shmemx_ct_t *cts, const long *values, size_t n);
void lat_ct_consume(shmemx_ct_t ct, long n);
long lat_ct_fetch_reset(shmemx_ct_t ct);
long lat_ct_errors(shmemx_ct_t ct);
void lat_ct_add(shmemx_ct_t ct, long weight, int pe);
void lat_ctx_ct_add(shmem_ctx_t ctx, shmemx_ct_t ct, long weight, int pe);

#endif
