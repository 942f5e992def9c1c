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

/* Issues an atomic on memory of another node, or by the adapter. */
static lat_hot void issue_atomic(const char *call, struct proto_op *op, const void *dest)
{
    lat_require(call);
    op->at = lat_remote_address(call, argument_of(op->atomic->what), dest, op->pe);
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
            proto_store_value(fetch, size, old);
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
