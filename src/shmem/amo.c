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

static struct uccs_atomic_op op_of(enum uccs_atomic op, size_t size, uint64_t value, uint64_t cond)
{
    return (struct uccs_atomic_op){op, (uint32_t)size, value, cond};
}

lat_cold uint64_t lat_amo_processor(const char *call, enum uccs_atomic op, const void *dest, size_t size,
                                    uint64_t value, uint64_t cond, int pe)
{
    lat_require(call);
    if (uccs_far_pe(pe))
        return uccs_far_amo(0, pe, op, lat_far_place(call, argument_of(op), dest, pe), size, value, cond);
    const struct uccs_atomic_op what = op_of(op, size, value, cond);
    return uccs_atomic_apply(&what, lat_resolve(call, argument_of(op), dest, pe));
}

uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                     uint64_t value, uint64_t cond, int pe)
{
    const struct uccs_atomic_op what = op_of(op, size, value, cond);
    lat_require(call);
    if (is_adapters(dest, pe))
        return uccs_far_adapter_fetch(lat_ctx_lanes(ctx), pe, &what, uccs_far_place(dest));
    if (uccs_far_pe(pe))
        return uccs_far_amo(lat_ctx_lanes(ctx), pe, op, lat_far_place(call, argument_of(op), dest, pe), size, value,
                            cond);
    return uccs_atomic_apply(&what, lat_resolve(call, argument_of(op), dest, pe));
}

void lat_amo_fetch_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                       uint64_t value, uint64_t cond, int pe, void *fetch, struct uccs_request **req)
{
    if (!uccs_far_pe(pe)) {
        uccs_far_give(fetch, size, lat_amo_far(call, ctx, op, dest, size, value, cond, pe));
        return;
    }
    lat_require(call);
    struct uccs_far_place at = lat_far_place(call, argument_of(op), dest, pe);
    const struct uccs_atomic_op what = op_of(op, size, value, cond);
    if (is_adapters(dest, pe))
        uccs_far_adapter_fetch_nb(lat_ctx_lanes(ctx), pe, &what, at, fetch, req);
    else
        uccs_far_amo_nb(lat_ctx_lanes(ctx), pe, op, at, size, value, cond, fetch, req);
}

uint64_t lat_amo_post_nbe(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                          size_t size, uint64_t value, uint64_t cond, int pe, struct uccs_request **req)
{
    if (!uccs_far_pe(pe)) {
        (void)lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
        return 0;
    }
    lat_require(call);
    struct uccs_far_place at = lat_far_place(call, "dest", dest, pe);
    const struct uccs_atomic_op what = op_of(op, size, value, cond);
    if (is_adapters(dest, pe))
        uccs_far_adapter_post(lat_ctx_lanes(ctx), pe, &what, at, false, req);
    else
        uccs_far_amo_post(lat_ctx_lanes(ctx), pe, op, at, size, value, cond, false, 0, req);
    return 0;
}

uint64_t lat_amo_post_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                          size_t size, uint64_t value, uint64_t cond, int pe)
{
    return lat_amo_post_nbe(call, ctx, op, dest, size, value, cond, pe, 0);
}
