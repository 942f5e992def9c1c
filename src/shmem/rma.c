/* Put and get, the far half: peers on other nodes, and mistakes, which place.c names; and strided copies, near and far. */
#include "shmem/rma.h"

#include "base/copy.h"

#define LONG_DATA 4096 /* bytes */

void lat_move_more(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    if (bytes >= LONG_DATA)
        atomic_settle();
}

/* Issues an operation on memory of a peer on another node. */
static lat_hot void issue_far(const char *call, struct proto_op *op, const char *argument, const void *there)
{
    op->at.segment = PROTO_HEAP;
    if (op->bytes)
        op->at = lat_remote_address(call, argument, there, op->pe);
    (void)proto_rma_or_end(op);
}

void lat_put_with_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                      int pe, const struct proto_notify *with, bool blocking, uccs_request_handle *req)
{
    struct proto_op op = {.kind = PROTO_PUT,
                          .nonblocking = !blocking,
                          .pe = pe,
                          .on = lat_ctx_workers(ctx),
                          .source = source,
                          .bytes = bytes,
                          .with = with,
                          .request = req};
    issue_far(call, &op, "dest", dest);
}

void lat_get_with_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                      int pe, const struct proto_notify *with, bool blocking, uccs_request_handle *req)
{
    struct proto_op op = {.kind = PROTO_GET,
                          .nonblocking = !blocking,
                          .pe = pe,
                          .on = lat_ctx_workers(ctx),
                          .dest = dest,
                          .bytes = bytes,
                          .with = with,
                          .request = req};
    issue_far(call, &op, "source", source);
}

static lat_hot void put_any(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                            int pe, bool blocking, uccs_request_handle *req)
{
    if (bytes && uccs_far_pe(pe)) {
        lat_put_with_far(call, ctx, dest, source, bytes, pe, 0, blocking, req);
        return;
    }
    if (!lat_moves_nothing(call, bytes, pe))
        memcpy(lat_resolve(call, "dest", dest, pe), source, bytes);
    if (req)
        uccs_request_stored(req);
}

void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe)
{
    put_any(call, ctx, dest, source, bytes, pe, true, 0);
}

void lat_put_nb_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                    uccs_request_handle *req)
{
    put_any(call, ctx, dest, source, bytes, pe, false, req);
}

static lat_hot void get_any(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                            int pe, bool blocking, uccs_request_handle *req)
{
    if (bytes && uccs_far_pe(pe)) {
        lat_get_with_far(call, ctx, dest, source, bytes, pe, 0, blocking, req);
        return;
    }
    if (!lat_moves_nothing(call, bytes, pe))
        memcpy(dest, lat_resolve(call, "source", source, pe), bytes);
    if (req)
        uccs_request_loaded(req);
}

void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe)
{
    get_any(call, ctx, dest, source, bytes, pe, true, 0);
}

void lat_get_nb_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                    uccs_request_handle *req)
{
    get_any(call, ctx, dest, source, bytes, pe, false, req);
}

/* ---- blocks that lie a stride apart ---- */

/* `count` blocks of `block` bytes, and their steps at the PE and here in elements of `size` bytes. */
struct shape {
    ptrdiff_t there, here;
    size_t count, block, size;
};

/* One block may come with any stride, so the product may wrap; then nothing uses it. */
static ptrdiff_t step_bytes(ptrdiff_t stride, size_t size)
{
    return (ptrdiff_t)((size_t)stride * size);
}

static void copy_shape(void *to, ptrdiff_t to_step, const void *from, ptrdiff_t from_step, const struct shape *shape)
{
    if (to_step == from_step && (size_t)to_step * shape->size == shape->block)
        memcpy(to, from, shape->count * shape->block);
    else
        copy_blocks(to, step_bytes(to_step, shape->size), from, step_bytes(from_step, shape->size), shape->block,
                    shape->count);
}

/* Ends the job when a product of the shape's numbers wraps. */
static void require_shape(const char *call, const struct shape *shape)
{
    if (shape->block)
        (void)lat_bytes(call, shape->count, shape->block);
    lat_require_span(call, shape->there, shape->count, shape->size);
    lat_require_span(call, shape->here, shape->count, shape->size);
}

/* Completes the description of an operation; blocks that lie one behind the other are one piece. */
static void issue_shape(const char *call, struct proto_op *op, const char *argument, const void *there,
                        const struct shape *shape)
{
    const struct proto_blocks blocks = {shape->block, shape->count, step_bytes(shape->there, shape->size),
                                        step_bytes(shape->here, shape->size)};
    op->nonblocking = op->request != 0;
    op->bytes = shape->block * shape->count;
    if (blocks.there != blocks.here || (size_t)blocks.there != blocks.block)
        op->blocks = &blocks;
    issue_far(call, op, argument, there);
}

/* For an address that uccs_near does not know. Returns it at a PE of this node; null: there is nothing to copy, or, with *far, the
 * operation is on its way to another node. */
static lat_cold void *reach_shape(const char *call, struct proto_op *op, const char *argument, const void *there,
                                  const struct shape *shape, bool *far)
{
    const bool some = shape->count && shape->block;
    *far = some && uccs_far_pe(op->pe);
    if (*far)
        issue_shape(call, op, argument, there, shape);
    return *far || lat_moves_nothing(call, some, op->pe) ? 0 : lat_resolve(call, argument, there, op->pe);
}

void lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe, uccs_request_handle *req)
{
    const struct shape shape = {dst, sst, nblocks, lat_bytes(call, bsize, size), size};
    void *to = uccs_near(dest, pe);
    bool far = false;
    require_shape(call, &shape);
    if (lat_unlikely(!to)) {
        struct proto_op op = {.kind = PROTO_PUT,
                              .pe = pe,
                              .on = lat_ctx_workers(ctx),
                              .source = source,
                              .request = req};
        to = reach_shape(call, &op, "dest", dest, &shape, &far);
    }
    if (to && shape.count && shape.block)
        copy_shape(to, dst, source, sst, &shape);
    if (req && !far)
        uccs_request_stored(req);
}

void lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe, uccs_request_handle *req)
{
    const struct shape shape = {sst, dst, nblocks, lat_bytes(call, bsize, size), size};
    const void *from = uccs_near(source, pe);
    bool far = false;
    require_shape(call, &shape);
    if (lat_unlikely(!from)) {
        struct proto_op op = {.kind = PROTO_GET, .pe = pe, .on = lat_ctx_workers(ctx), .dest = dest, .request = req};
        from = reach_shape(call, &op, "source", source, &shape, &far);
    }
    if (from && shape.count && shape.block)
        copy_shape(dest, dst, from, sst, &shape);
    if (req && !far)
        uccs_request_loaded(req);
}
