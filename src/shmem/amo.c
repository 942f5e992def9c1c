/* Remote atomics, the far half: peers on other nodes, and mistakes, which place.c names. */
#include "shmem/amo.h"

#include "shmem/ctx.h"
#include "shmem/place.h"

#define APPLY(bits)                                                                                             \
    static uint64_t apply##bits(enum lat_amo op, uint##bits##_t *to, uint##bits##_t value, uint##bits##_t cond) \
    {                                                                                                           \
        switch (op) {                                                                                           \
        case LAT_AMO_FETCH: return atomic_load_acquire(to);                                                     \
        case LAT_AMO_SET: atomic_store_release(to, value); return 0;                                            \
        case LAT_AMO_SWAP: return atomic_exchange_acqrel(to, value);                                            \
        case LAT_AMO_CSWAP: (void)atomic_cas_acqrel(to, &cond, value); return cond;                             \
        case LAT_AMO_ADD: return atomic_fetch_add_acqrel(to, value);                                            \
        case LAT_AMO_AND: return atomic_fetch_and_acqrel(to, value);                                            \
        case LAT_AMO_OR: return atomic_fetch_or_acqrel(to, value);                                              \
        case LAT_AMO_XOR: return atomic_fetch_xor_acqrel(to, value);                                            \
        }                                                                                                       \
        return 0;                                                                                               \
    }

APPLY(32)
APPLY(64)

_Static_assert((int)LAT_AMO_FETCH == FAR_FETCH && (int)LAT_AMO_SET == FAR_SET && (int)LAT_AMO_SWAP == FAR_SWAP &&
                   (int)LAT_AMO_CSWAP == FAR_CSWAP && (int)LAT_AMO_ADD == FAR_ADD && (int)LAT_AMO_AND == FAR_AND &&
                   (int)LAT_AMO_OR == FAR_OR && (int)LAT_AMO_XOR == FAR_XOR,
               "one numbering");

lat_cold uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum lat_amo op, const void *dest,
                              size_t size, uint64_t value, uint64_t cond, int pe)
{
    const char *argument = op == LAT_AMO_FETCH ? "source" : "dest";
    lat_require(call);
    if (uccs_far_pe(pe))
        return uccs_far_amo(lat_ctx_lanes(ctx), pe, (enum uccs_far_amo)op, lat_far_place(call, argument, dest, pe),
                            size, value, cond);
    void *to = lat_resolve(call, argument, dest, pe);
    return size == 4 ? apply32(op, to, (uint32_t)value, (uint32_t)cond) : apply64(op, to, value, cond);
}

lat_cold void lat_amo_fetch_far(const char *call, struct shmem_ctx_impl *ctx, enum lat_amo op, const void *dest,
                                size_t size, uint64_t value, uint64_t cond, int pe, void *fetch,
                                struct uccs_request **req)
{
    if (!uccs_far_pe(pe)) {
        uccs_far_give(fetch, size, lat_amo_far(call, ctx, op, dest, size, value, cond, pe));
        return;
    }
    lat_require(call);
    const char *argument = op == LAT_AMO_FETCH ? "source" : "dest";
    struct uccs_far_place at = lat_far_place(call, argument, dest, pe);
    uccs_far_amo_nb(lat_ctx_lanes(ctx), pe, (enum uccs_far_amo)op, at, size, value, cond, fetch, req);
}

lat_cold uint64_t lat_amo_post_far(const char *call, struct shmem_ctx_impl *ctx, enum lat_amo op, const void *dest,
                                   size_t size, uint64_t value, uint64_t cond, int pe)
{
    if (!uccs_far_pe(pe))
        return lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
    lat_require(call);
    uccs_far_amo_post(lat_ctx_lanes(ctx), pe, (enum uccs_far_amo)op, lat_far_place(call, "dest", dest, pe), size, value,
                      cond, 0);
    return 0;
}

lat_cold uint64_t lat_amo_post_nbe(const char *call, struct shmem_ctx_impl *ctx, enum lat_amo op, const void *dest,
                                   size_t size, uint64_t value, uint64_t cond, int pe, struct uccs_request **req)
{
    if (!uccs_far_pe(pe))
        return lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
    lat_require(call);
    uccs_far_amo_post(lat_ctx_lanes(ctx), pe, (enum uccs_far_amo)op, lat_far_place(call, "dest", dest, pe), size, value,
                      cond, req);
    return 0;
}
