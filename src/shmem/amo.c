/* Remote atomics, the far half: peers on other nodes, memory whose atomics the network's adapter does, and mistakes, which
 * place.c names. */
#include "shmem/amo.h"

#include "shmem/ctx.h"
#include "shmem/place.h"

static const char *argument_of(enum uccs_atomic op)
{
    return op == UCCS_ATOMIC_FETCH ? "source" : "dest";
}

static bool is_adapters(const void *dest, int pe)
{
    return lat_unlikely(uccs_memory_of_adapter(dest)) && pe >= 0 && pe < uccs_core.npes;
}

static struct proto_op far_op(const char *call, struct shmem_ctx_impl *ctx, const struct uccs_atomic_op *what,
                              const void *dest, int pe)
{
    lat_require(call);
    return (struct proto_op){.kind = PROTO_ATOMIC,
                             .adapter = is_adapters(dest, pe),
                             .pe = pe,
                             .on = ctx ? lat_ctx_workers(ctx) : 0,
                             .at = lat_remote_address(call, argument_of(what->what), dest, pe),
                             .atomic = what};
}

/* Waits for the old value and returns it. A set needs none: it returns 0 at once, but by the adapter when it is done. */
static uint64_t apply_far(struct proto_op *op)
{
    union {
        uint32_t word32;
        uint64_t word64;
    } old = {.word64 = 0};
    op->dest = op->atomic->what == UCCS_ATOMIC_SET && !op->adapter ? 0 : &old;
    (void)proto_rma_or_end(op);
    return op->atomic->size == sizeof old.word32 ? old.word32 : old.word64;
}

/* Applies the operation by the processor of a PE of this node, or ends the job for a mistake. */
static uint64_t apply_near(const char *call, const struct uccs_atomic_op *what, const void *dest, int pe)
{
    lat_require(call);
    return uccs_atomic_apply(what, lat_resolve(call, argument_of(what->what), dest, pe));
}

lat_cold uint64_t lat_amo_processor(const char *call, enum uccs_atomic op, const void *dest, size_t size,
                                    uint64_t value, uint64_t cond, int pe)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    if (!uccs_far_pe(pe))
        return apply_near(call, &what, dest, pe);
    struct proto_op far = far_op(call, 0, &what, dest, pe);
    far.adapter = false;
    return apply_far(&far);
}

uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                     uint64_t value, uint64_t cond, int pe)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    if (!is_adapters(dest, pe) && !uccs_far_pe(pe))
        return apply_near(call, &what, dest, pe);
    struct proto_op far = far_op(call, ctx, &what, dest, pe);
    return apply_far(&far);
}

void lat_amo_fetch_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                       uint64_t value, uint64_t cond, int pe, void *fetch, struct uccs_request **req)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    if (!uccs_far_pe(pe)) {
        proto_store_value(fetch, size, lat_amo_far(call, ctx, op, dest, size, value, cond, pe));
        return;
    }
    struct proto_op far = far_op(call, ctx, &what, dest, pe);
    far.nonblocking = true;
    far.dest = fetch;
    far.request = req;
    (void)proto_rma_or_end(&far);
}

void lat_amo_post_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                      uint64_t value, uint64_t cond, int pe, struct uccs_request **req)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    if (!uccs_far_pe(pe)) {
        (void)lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
        return;
    }
    struct proto_op far = far_op(call, ctx, &what, dest, pe);
    far.request = req;
    (void)proto_rma_or_end(&far);
}
