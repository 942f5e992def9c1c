/* Strided put and get. A stride of one on both sides is a plain copy. Any thread. */
#include "shmem/strided.h"

#include "base/copy.h"
#include "shmem/bytes.h"
#include "shmem/place.h"

#include <string.h>

/* One block may come with any stride, so the product may wrap; then nothing uses it. */
static ptrdiff_t stride_bytes(ptrdiff_t stride, size_t size)
{
    return (ptrdiff_t)((size_t)stride * size);
}

/* Strides in elements of `size` bytes, `count` blocks of `block` bytes. */
struct shape {
    ptrdiff_t dst, sst;
    size_t count, block, size;
};

static void copy_shape(char *to, const char *from, const struct shape *shape)
{
    if (shape->dst == shape->sst && (size_t)shape->dst * shape->size == shape->block)
        memcpy(to, from, shape->count * shape->block);
    else
        copy_blocks(to, stride_bytes(shape->dst, shape->size), from, stride_bytes(shape->sst, shape->size),
                    shape->block, shape->count);
}

/* Ends the job when a product of the shape's numbers wraps. */
static void require_shape(const char *call, const struct shape *shape)
{
    if (shape->block)
        (void)lat_bytes(call, shape->count, shape->block);
    lat_require_span(call, shape->dst, shape->count, shape->size);
    lat_require_span(call, shape->sst, shape->count, shape->size);
}

/* Describes the operation, whose remote strides are `there`; blocks that lie one behind the other are one piece. */
static void issue_far(struct proto_op *op, const struct shape *shape, ptrdiff_t there, ptrdiff_t here)
{
    const struct proto_blocks blocks = {shape->block, shape->count, stride_bytes(there, shape->size),
                                        stride_bytes(here, shape->size)};
    op->nonblocking = op->request != 0;
    op->bytes = shape->block * shape->count;
    if (blocks.there != blocks.here || (size_t)blocks.there != blocks.block)
        op->blocks = &blocks;
    (void)proto_rma_or_end(op);
}

/* Return false when the request tracks the operation, true when it is done. */
static bool put_shape(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                      const struct shape *shape, int pe, uccs_request_handle *req)
{
    const bool some = shape->count && shape->block;
    require_shape(call, shape);
    char *to = uccs_near(dest, pe);
    if (lat_unlikely(!to) && some && uccs_far_pe(pe)) {
        lat_require(call);
        struct proto_op op = {.kind = PROTO_PUT,
                              .pe = pe,
                              .on = lat_ctx_workers(ctx),
                              .source = source,
                              .request = req};
        op.at = lat_remote_address(call, "dest", dest, pe);
        issue_far(&op, shape, shape->dst, shape->sst);
        return false;
    }
    if (lat_unlikely(!to) && !lat_moves_nothing(call, some, pe))
        to = lat_resolve(call, "dest", dest, pe);
    if (to && some)
        copy_shape(to, source, shape);
    return true;
}

static bool get_shape(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                      const struct shape *shape, int pe, uccs_request_handle *req)
{
    const bool some = shape->count && shape->block;
    require_shape(call, shape);
    const char *from = uccs_near(source, pe);
    if (lat_unlikely(!from) && some && uccs_far_pe(pe)) {
        lat_require(call);
        struct proto_op op = {.kind = PROTO_GET, .pe = pe, .on = lat_ctx_workers(ctx), .dest = dest, .request = req};
        op.at = lat_remote_address(call, "source", source, pe);
        issue_far(&op, shape, shape->sst, shape->dst);
        return false;
    }
    if (lat_unlikely(!from) && !lat_moves_nothing(call, some, pe))
        from = lat_resolve(call, "source", source, pe);
    if (from && some)
        copy_shape(dest, from, shape);
    return true;
}

bool lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req)
{
    return put_shape(call, ctx, dest, source, &(struct shape){dst, sst, nelems, size, size}, pe, req);
}

bool lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req)
{
    return get_shape(call, ctx, dest, source, &(struct shape){dst, sst, nelems, size, size}, pe, req);
}

void lat_ibput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe)
{
    const struct shape shape = {dst, sst, nblocks, lat_bytes(call, bsize, size), size};
    (void)put_shape(call, ctx, dest, source, &shape, pe, 0);
}

void lat_ibget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe)
{
    const struct shape shape = {dst, sst, nblocks, lat_bytes(call, bsize, size), size};
    (void)get_shape(call, ctx, dest, source, &shape, pe, 0);
}
