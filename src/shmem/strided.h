/* Strided put and get: elements, or blocks of elements, that lie a stride apart.
 *
 * Any thread. Strides count in elements of `size` bytes. */
#ifndef SHMEM_STRIDED_H
#define SHMEM_STRIDED_H

#include "shmem/ctx.h"
#include "uccs/comp/request.h"

/* The request may be null. Return true when the copy is done and the caller marks the request, false when the request tracks
 * an operation that is under way. */
bool lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req);
bool lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req);
/* Blocks of `bsize` elements. */
void lat_ibput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe);
void lat_ibget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe);

#endif
