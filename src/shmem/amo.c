/* Remote atomics, the far half: peers on other nodes, and mistakes, which place.c names. */
#include "shmem/amo.h"

#include "shmem/ctx.h"
#include "shmem/place.h"

lat_cold uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                              size_t size, uint64_t value, uint64_t cond, int pe)
{
    const char *argument = op == UCCS_ATOMIC_FETCH ? "source" : "dest";
    lat_require(call);
    if (uccs_far_pe(pe))
        return uccs_far_amo(lat_ctx_lanes(ctx), pe, op, lat_far_place(call, argument, dest, pe), size, value, cond);
    void *to = lat_resolve(call, argument, dest, pe);
    return uccs_atomic_apply(&(struct uccs_atomic_op){op, (uint32_t)size, value, cond}, to);
}

lat_cold void lat_amo_fetch_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                                size_t size, uint64_t value, uint64_t cond, int pe, void *fetch,
                                struct uccs_request **req)
{
    if (!uccs_far_pe(pe)) {
        uccs_far_give(fetch, size, lat_amo_far(call, ctx, op, dest, size, value, cond, pe));
        return;
    }
    lat_require(call);
    const char *argument = op == UCCS_ATOMIC_FETCH ? "source" : "dest";
    struct uccs_far_place at = lat_far_place(call, argument, dest, pe);
    uccs_far_amo_nb(lat_ctx_lanes(ctx), pe, op, at, size, value, cond, fetch, req);
}

lat_cold uint64_t lat_amo_post_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                                   size_t size, uint64_t value, uint64_t cond, int pe)
{
    if (!uccs_far_pe(pe))
        return lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
    lat_require(call);
    uccs_far_amo_post(lat_ctx_lanes(ctx), pe, op, lat_far_place(call, "dest", dest, pe), size, value, cond, false, 0,
                      0);
    return 0;
}

lat_cold uint64_t lat_amo_post_nbe(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                                   size_t size, uint64_t value, uint64_t cond, int pe, struct uccs_request **req)
{
    if (!uccs_far_pe(pe))
        return lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
    lat_require(call);
    uccs_far_amo_post(lat_ctx_lanes(ctx), pe, op, lat_far_place(call, "dest", dest, pe), size, value, cond, false, 0,
                      req);
    return 0;
}
