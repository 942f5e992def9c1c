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

static void copy(char *to, const char *from, ptrdiff_t dst, ptrdiff_t sst, size_t count, size_t block, size_t size)
{
    if (dst == sst && (size_t)dst * size == block) {
        memcpy(to, from, count * block);
        return;
    }
    copy_blocks(to, stride_bytes(dst, size), from, stride_bytes(sst, size), block, count);
}

/* Returns the peer's address, or null when there is nothing to move. */
static void *peer(const char *call, const char *argument, const void *addr, size_t bytes, int pe)
{
    void *near = uccs_near(addr, pe);
    if (lat_likely(near != 0))
        return near;
    lat_require(call);
    if (bytes == 0 && pe >= 0 && pe < uccs_core.npes)
        return 0;
    return lat_resolve(call, argument, addr, pe);
}

/* Strides in elements of `size` bytes, `count` blocks of `block` bytes. */
struct shape {
    ptrdiff_t dst, sst;
    size_t count, block, size;
};

/* Ends the job when a product of the shape's numbers wraps. */
static void require_shape(const char *call, const struct shape *shape)
{
    if (shape->block)
        (void)lat_bytes(call, shape->count, shape->block);
    lat_require_span(call, shape->dst, shape->count, shape->size);
    lat_require_span(call, shape->sst, shape->count, shape->size);
}

/* Turns strides in elements into strides in bytes, there and here. */
static struct proto_blocks blocks_of(const struct shape *shape, ptrdiff_t there, ptrdiff_t here)
{
    const size_t size = shape->size;
    return (struct proto_blocks){shape->block, shape->count, stride_bytes(there, size), stride_bytes(here, size)};
}

static bool is_plain(const struct proto_blocks *blocks)
{
    return blocks->there == blocks->here && (size_t)blocks->there == blocks->block;
}

/* Describes the operation; blocks that lie one behind the other are one piece. */
static struct proto_op op_of(enum proto_kind kind, struct shmem_ctx_impl *ctx, int pe,
                             const struct proto_blocks *blocks, uccs_request_handle *req)
{
    return (struct proto_op){.kind = kind,
                             .nonblocking = req != 0,
                             .pe = pe,
                             .on = lat_ctx_workers(ctx),
                             .bytes = blocks->block * blocks->count,
                             .blocks = is_plain(blocks) ? 0 : blocks,
                             .request = req};
}

lat_cold static void put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                             const struct shape *shape, int pe, uccs_request_handle *req)
{
    const struct proto_blocks blocks = blocks_of(shape, shape->dst, shape->sst);
    struct proto_op op = op_of(PROTO_PUT, ctx, pe, &blocks, req);
    op.at = lat_remote_address(call, "dest", dest, pe);
    op.source = source;
    (void)proto_rma_or_end(&op);
}

lat_cold static void get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                             const struct shape *shape, int pe, uccs_request_handle *req)
{
    const struct proto_blocks blocks = blocks_of(shape, shape->sst, shape->dst);
    struct proto_op op = op_of(PROTO_GET, ctx, pe, &blocks, req);
    op.at = lat_remote_address(call, "source", source, pe);
    op.dest = dest;
    (void)proto_rma_or_end(&op);
}

/* Return false when the request tracks the operation, true when it is done. */
static bool put(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, const struct shape *shape,
                int pe, uccs_request_handle *req)
{
    bool some = shape->count && shape->block;
    require_shape(call, shape);
    if (lat_unlikely(uccs_far_pe(pe)) && some) {
        lat_require(call);
        put_far(call, ctx, dest, source, shape, pe, req);
        return false;
    }
    char *to = peer(call, "dest", dest, some, pe);
    if (to && some)
        copy(to, source, shape->dst, shape->sst, shape->count, shape->block, shape->size);
    return true;
}

static bool get(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, const struct shape *shape,
                int pe, uccs_request_handle *req)
{
    bool some = shape->count && shape->block;
    require_shape(call, shape);
    if (lat_unlikely(uccs_far_pe(pe)) && some) {
        lat_require(call);
        get_far(call, ctx, dest, source, shape, pe, req);
        return false;
    }
    const char *from = peer(call, "source", source, some, pe);
    if (from && some)
        copy(dest, from, shape->dst, shape->sst, shape->count, shape->block, shape->size);
    return true;
}

void lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    put(call, ctx, dest, source, &(struct shape){dst, sst, nelems, size, size}, pe, 0);
}

bool lat_iput_carry(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
                    ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req)
{
    return put(call, ctx, dest, source, &(struct shape){dst, sst, nelems, size, size}, pe, req);
}

void lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t nelems, size_t size, int pe)
{
    get(call, ctx, dest, source, &(struct shape){dst, sst, nelems, size, size}, pe, 0);
}

bool lat_iget_carry(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
                    ptrdiff_t sst, size_t nelems, size_t size, int pe, uccs_request_handle *req)
{
    return get(call, ctx, dest, source, &(struct shape){dst, sst, nelems, size, size}, pe, req);
}

void lat_ibput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe)
{
    put(call, ctx, dest, source, &(struct shape){dst, sst, nblocks, lat_bytes(call, bsize, size), size}, pe, 0);
}

void lat_ibget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
               ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe)
{
    get(call, ctx, dest, source, &(struct shape){dst, sst, nblocks, lat_bytes(call, bsize, size), size}, pe, 0);
}
