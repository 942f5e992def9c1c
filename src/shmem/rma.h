/* Put and get: the near half, inline in the generated thunks. A peer on the node is memory.
 *
 * Any thread. `call` is the public name for messages; `size` a constant, so that one element is
 * one load and one store. */
#ifndef SHMEM_RMA_H
#define SHMEM_RMA_H

#include "shmem/ctx.h"
#include "uccs/memory.h"

#include <string.h>

/* The far halves, out of line: an off-node peer, or a mistake that they name. */
void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe);
void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe);
void lat_put_nbi_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                     int pe);
void lat_get_nbi_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                     int pe);

/* The peer's address where it must be on the node: mistakes are named, `argument` is dest or source. */
void *lat_resolve(const char *call, const char *argument, const void *addr, int pe);

/* One element is one load and one store. */
static lat_hot void lat_move(void *to, const void *from, size_t nelems, size_t size)
{
    if (nelems == 1)
        memcpy(to, from, size);
    else
        memcpy(to, from, nelems * size);
}

static lat_hot void lat_put(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t nelems,
                            size_t size, int pe)
{
    void *to = uccs_near(dest, pe);
    if (lat_unlikely(!to))
        lat_put_far(call, ctx, dest, source, nelems * size, pe);
    else
        lat_move(to, source, nelems, size);
}

static lat_hot void lat_get(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t nelems,
                            size_t size, int pe)
{
    const void *from = uccs_near(source, pe);
    if (lat_unlikely(!from))
        lat_get_far(call, ctx, dest, source, nelems * size, pe);
    else
        lat_move(dest, from, nelems, size);
}

/* On the node the non-blocking forms complete in place. */
static lat_hot void lat_put_nbi(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                size_t nelems, size_t size, int pe)
{
    void *to = uccs_near(dest, pe);
    if (lat_unlikely(!to))
        lat_put_nbi_far(call, ctx, dest, source, nelems * size, pe);
    else
        lat_move(to, source, nelems, size);
}

static lat_hot void lat_get_nbi(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                size_t nelems, size_t size, int pe)
{
    const void *from = uccs_near(source, pe);
    if (lat_unlikely(!from))
        lat_get_nbi_far(call, ctx, dest, source, nelems * size, pe);
    else
        lat_move(dest, from, nelems, size);
}

/* Strides in elements of `size` bytes. */
void lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe);
void lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe);
/* Blocks of `bsize` elements. */
void lat_ibput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe);
void lat_ibget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe);

#endif
