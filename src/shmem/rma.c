/* Put and get, the far half: peers on other nodes, and mistakes, which place.c names; and strided copies, near and far. */
#include "shmem/rma.h"

#include "base/copy.h"
#include "shmem/ctx.h"
#include "shmem/place.h"

#define LONG_DATA 4096 /* bytes */

void lat_move_more(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    if (bytes >= LONG_DATA)
        atomic_settle();
}

/* Issues an operation on memory of a peer on another node. */
static lat_hot void issue_far(const char *call, struct proto_op *op, const void *there)
{
    op->at.segment = PROTO_HEAP;
    if (op->bytes)
        op->at = lat_remote_address(call, op->kind == PROTO_PUT ? "dest" : "source", there, op->pe);
    (void)proto_rma_or_end(op);
}

/* Notes in a request, which may be null, an operation that is done. */
static lat_hot void note_done(enum proto_kind kind, uccs_request_handle *req)
{
    if (req)
        (kind == PROTO_PUT ? uccs_request_stored : uccs_request_loaded)(req);
}

void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                 const struct proto_notify *with, bool blocking, uccs_request_handle *req)
{
    if ((bytes || with) && uccs_far_pe(pe)) {
        struct proto_op op = {.kind = PROTO_PUT,
                              .nonblocking = !blocking,
                              .pe = pe,
                              .on = lat_ctx_workers(ctx),
                              .source = source,
                              .bytes = bytes,
                              .with = with,
                              .request = req};
        issue_far(call, &op, dest);
        return;
    }
    if (!lat_moves_nothing(call, bytes, pe))
        memcpy(lat_resolve(call, "dest", dest, pe), source, bytes);
    note_done(PROTO_PUT, req);
}

void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                 const struct proto_notify *with, bool blocking, uccs_request_handle *req)
{
    if ((bytes || with) && uccs_far_pe(pe)) {
        struct proto_op op = {.kind = PROTO_GET,
                              .nonblocking = !blocking,
                              .pe = pe,
                              .on = lat_ctx_workers(ctx),
                              .dest = dest,
                              .bytes = bytes,
                              .with = with,
                              .request = req};
        issue_far(call, &op, source);
        return;
    }
    if (!lat_moves_nothing(call, bytes, pe))
        memcpy(dest, lat_resolve(call, "source", source, pe), bytes);
    note_done(PROTO_GET, req);
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

/* Ends the job when a product of the shape's numbers wraps. */
static void require_shape(const char *call, const struct shape *shape)
{
    if (shape->block)
        (void)lat_bytes(call, shape->count, shape->block);
    lat_require_span(call, shape->there, shape->count, shape->size);
    lat_require_span(call, shape->here, shape->count, shape->size);
}

/* To another node, blocks that lie one behind the other are one piece. */
static lat_hot void move_shape(struct proto_op *op, const char *call, const void *there, const struct shape *shape)
{
    const bool put = op->kind == PROTO_PUT, some = shape->count && shape->block;
    const struct proto_blocks blocks = {shape->block, shape->count, step_bytes(shape->there, shape->size),
                                        step_bytes(shape->here, shape->size)};
    void *near = uccs_near(there, op->pe);
    require_shape(call, shape);
    if (lat_unlikely(!near) && some && uccs_far_pe(op->pe)) {
        op->nonblocking = op->request != 0;
        op->bytes = blocks.block * blocks.count;
        if (blocks.there != blocks.here || (size_t)blocks.there != blocks.block)
            op->blocks = &blocks;
        issue_far(call, op, there);
        return;
    }
    if (lat_unlikely(!near) && !lat_moves_nothing(call, some, op->pe))
        near = lat_resolve(call, put ? "dest" : "source", there, op->pe);
    if (some && put)
        copy_blocks(near, blocks.there, op->source, blocks.here, blocks.block, blocks.count);
    else if (some)
        copy_blocks(op->dest, blocks.here, near, blocks.there, blocks.block, blocks.count);
    note_done(op->kind, op->request);
}

void lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe, uccs_request_handle *req)
{
    const struct shape shape = {dst, sst, nblocks, lat_bytes(call, bsize, size), size};
    struct proto_op op = {.kind = PROTO_PUT, .pe = pe, .on = lat_ctx_workers(ctx), .source = source, .request = req};
    move_shape(&op, call, dest, &shape);
}

void lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe, uccs_request_handle *req)
{
    const struct shape shape = {sst, dst, nblocks, lat_bytes(call, bsize, size), size};
    struct proto_op op = {.kind = PROTO_GET, .pe = pe, .on = lat_ctx_workers(ctx), .dest = dest, .request = req};
    move_shape(&op, call, source, &shape);
}

/* Remote atomics, the far half: peers on other nodes, memory whose atomics the network's adapter does, and mistakes, which
 * place.c names. */

static const char *argument_of(enum uccs_atomic op)
{
    return op == UCCS_ATOMIC_FETCH ? "source" : "dest";
}

static bool is_adapters(const void *dest, int pe)
{
    return lat_unlikely(uccs_memory_of_adapter(dest)) && pe >= 0 && pe < uccs_core.npes;
}

/* Issues an atomic on memory of another node, or by the adapter. */
static lat_hot void issue_atomic(const char *call, struct proto_op *op, const void *dest)
{
    lat_require(call);
    op->at = lat_remote_word(call, argument_of(op->atomic->what), dest, op->atomic->size, op->pe);
    (void)proto_rma_or_end(op);
}

/* A set needs no old value: it returns 0 at once, but by the adapter when it is done. */
uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                     uint64_t value, uint64_t cond, int pe)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    const bool adapter = ctx && is_adapters(dest, pe);
    union {
        uint32_t word32;
        uint64_t word64;
    } old = {.word64 = 0};
    if (!adapter && !uccs_far_pe(pe)) {
        lat_require(call);
        return uccs_atomic_apply(&what, lat_resolve(call, argument_of(op), dest, pe));
    }
    struct proto_op far = {.kind = PROTO_ATOMIC,
                           .adapter = adapter,
                           .pe = pe,
                           .on = ctx ? lat_ctx_workers(ctx) : 0,
                           .dest = op == UCCS_ATOMIC_SET && !adapter ? 0 : &old,
                           .atomic = &what};
    issue_atomic(call, &far, dest);
    return size == sizeof old.word32 ? old.word32 : old.word64;
}

void lat_amo_start_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                       uint64_t value, uint64_t cond, int pe, void *fetch, struct uccs_request **req)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    if (!uccs_far_pe(pe)) {
        const uint64_t old = lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
        if (fetch)
            uccs_store_value(fetch, size, old);
        return;
    }
    struct proto_op far = {.kind = PROTO_ATOMIC,
                           .nonblocking = fetch != 0,
                           .adapter = is_adapters(dest, pe),
                           .pe = pe,
                           .on = lat_ctx_workers(ctx),
                           .dest = fetch,
                           .atomic = &what,
                           .request = req};
    issue_atomic(call, &far, dest);
}
