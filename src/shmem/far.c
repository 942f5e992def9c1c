/* The out-of-line half of put, get and atomics: peers whose memory is not plainly here, and the
 * program's mistakes, each named once. Any thread.
 *
 * Three cases come here: a peer on another node (uccs/far.h); a peer on this node whose address the fast ranges do
 * not cover (uccs_memory_resolve); a mistake. */
#include "shmem/far.h"

#include "shmem/amo.h"
#include "shmem/counter.h"
#include "shmem/rma.h"
#include "shmem/signal.h"
#include "shmem/state.h"

/* Decides what is wrong with (addr, pe) and ends the job. */
static _Noreturn void fail_address(const char *call, const char *argument, const void *addr, int pe)
{
    size_t offset;
    lat_require(call);
    if (pe < 0 || pe >= uccs_core.npes)
        lat_fail(call, "pe %d is out of range, the job has PEs 0 to %d", pe, uccs_core.npes - 1);
    if (uccs_memory_find(addr, &offset) == UCCS_IMAGE)
        lat_fail(call, "%s %p is a global variable, but PE %d runs another program; use shmem_malloc", argument, addr,
                 pe);
    const char *why = uccs_memory_why_private();
    lat_fail(call, "%s %p is not a symmetric address%s%s%s", argument, addr,
             why ? " (global variables are private here: " : "", why ? why : "", why ? ")" : "");
}

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    void *near = uccs_memory_resolve(addr, pe);
    if (!near)
        fail_address(call, argument, addr, pe);
    return near;
}

struct uccs_far_place lat_far_place(const char *call, const char *argument, const void *addr, int pe)
{
    struct uccs_far_place place = uccs_far_place(addr);
    if (lat_unlikely(place.segment == FAR_NOWHERE || (place.segment == FAR_IMAGE && !uccs_far_same_image(pe))))
        fail_address(call, argument, addr, pe);
    return place;
}

/* Nothing to move is no mistake as long as the PE exists. */
static bool nothing(const char *call, size_t bytes, int pe)
{
    lat_require(call);
    return bytes == 0 && pe >= 0 && pe < uccs_core.npes;
}

lat_cold void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                          int pe)
{
    if (nothing(call, bytes, pe))
        return;
    if (uccs_far_pe(pe))
        uccs_far_put(lat_ctx_lanes(ctx), pe, lat_far_place(call, "dest", dest, pe), source, bytes, 0, 0);
    else
        memcpy(lat_resolve(call, "dest", dest, pe), source, bytes);
}

lat_cold void lat_put_nbi_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                              size_t bytes, int pe)
{
    if (bytes && uccs_far_pe(pe))
        uccs_far_put_nb(lat_ctx_lanes(ctx), pe, lat_far_place(call, "dest", dest, pe), source, bytes, 0, 0);
    else
        lat_put_far(call, ctx, dest, source, bytes, pe);
}

lat_cold void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                          int pe)
{
    if (nothing(call, bytes, pe))
        return;
    if (uccs_far_pe(pe))
        uccs_far_get(lat_ctx_lanes(ctx), pe, lat_far_place(call, "source", source, pe), dest, bytes, 0);
    else
        memcpy(dest, lat_resolve(call, "source", source, pe), bytes);
}

lat_cold void lat_get_nbi_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                              size_t bytes, int pe)
{
    if (bytes && uccs_far_pe(pe))
        uccs_far_get_nb(lat_ctx_lanes(ctx), pe, lat_far_place(call, "source", source, pe), dest, bytes, 0, 0);
    else
        lat_get_far(call, ctx, dest, source, bytes, pe);
}

lat_cold void lat_put_nbe_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                              size_t bytes, int pe, shmemx_request_t *req)
{
    if (bytes && uccs_far_pe(pe)) {
        uccs_far_put_nb(lat_ctx_lanes(ctx), pe, lat_far_place(call, "dest", dest, pe), source, bytes, 0, req);
        return;
    }
    lat_put_far(call, ctx, dest, source, bytes, pe);
    uccs_request_stored(req);
}

lat_cold void lat_get_nbe_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                              size_t bytes, int pe, shmemx_request_t *req)
{
    if (bytes && uccs_far_pe(pe)) {
        uccs_far_get_nb(lat_ctx_lanes(ctx), pe, lat_far_place(call, "source", source, pe), dest, bytes, 0, req);
        return;
    }
    lat_get_far(call, ctx, dest, source, bytes, pe);
    uccs_request_loaded(req);
}

/* Data and count, or data and signal: one message. */
static void put_with(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                     const struct uccs_far_with *with, bool blocking, shmemx_request_t *req)
{
    struct uccs_far_place to = {.segment = FAR_HEAP};
    if (bytes)
        to = lat_far_place(call, "dest", dest, pe);
    (blocking ? uccs_far_put : uccs_far_put_nb)(lat_ctx_lanes(ctx), pe, to, source, bytes, with, req);
}

static bool is_signal(const char *call, struct uccs_far_with *with, const uint64_t *sig_addr, uint64_t signal,
                      int sig_op, int pe)
{
    lat_require(call);
    if (!uccs_far_pe(pe)) {
        lat_resolve(call, "sig_addr", sig_addr, pe); /* names the mistake */
        return false;
    }
    *with = (struct uccs_far_with){.what = sig_op == SHMEM_SIGNAL_ADD ? FAR_SIGNAL_ADD : FAR_SIGNAL_SET,
                                   .place = lat_far_place(call, "sig_addr", sig_addr, pe),
                                   .value = signal};
    return true;
}

lat_cold void lat_put_signal_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                 size_t bytes, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, bool blocking,
                                 shmemx_request_t *req)
{
    struct uccs_far_with with;
    if (is_signal(call, &with, sig_addr, signal, sig_op, pe)) {
        put_with(call, ctx, dest, source, bytes, pe, &with, blocking, req);
        return;
    }
    lat_put_far(call, ctx, dest, source, bytes, pe);
    lat_amo_far(call, ctx, sig_op == SHMEM_SIGNAL_ADD ? LAT_AMO_ADD : LAT_AMO_SET, sig_addr, sizeof signal, signal, 0,
                pe);
    if (req)
        uccs_request_stored(req);
}

lat_cold void lat_signal_far(const char *call, struct shmem_ctx_impl *ctx, uint64_t *sig_addr, uint64_t signal,
                             int sig_op, int pe)
{
    struct uccs_far_with with;
    if (is_signal(call, &with, sig_addr, signal, sig_op, pe))
        put_with(call, ctx, 0, 0, 0, pe, &with, false, 0);
    else
        lat_amo_far(call, ctx, sig_op == SHMEM_SIGNAL_ADD ? LAT_AMO_ADD : LAT_AMO_SET, sig_addr, sizeof signal, signal,
                    0, pe);
}

lat_cold void lat_put_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                             const void *source, size_t bytes, int pe, bool blocking, shmemx_request_t *req)
{
    lat_require(call);
    if (uccs_far_pe(pe)) {
        lat_ct_check(call, ct);
        const struct uccs_far_with with = {.what = FAR_COUNT, .value = lat_ct_of(ct), .weight = 1};
        put_with(call, ctx, dest, source, bytes, pe, &with, blocking, req);
        return;
    }
    lat_put_far(call, ctx, dest, source, bytes, pe);
    lat_ct_arrive(call, ct, 1, pe);
    if (req)
        uccs_request_stored(req);
}

lat_cold void lat_get_ct_far(const char *call, struct shmem_ctx_impl *ctx, shmemx_ct_t ct, void *dest,
                             const void *source, size_t bytes, int pe, bool blocking, shmemx_request_t *req)
{
    lat_require(call);
    if (uccs_far_pe(pe)) {
        lat_ct_check(call, ct);
        struct uccs_far_place from = {.segment = FAR_HEAP};
        if (bytes)
            from = lat_far_place(call, "source", source, pe);
        if (blocking)
            uccs_far_get(lat_ctx_lanes(ctx), pe, from, dest, bytes, lat_ct_of(ct));
        else
            uccs_far_get_nb(lat_ctx_lanes(ctx), pe, from, dest, bytes, lat_ct_of(ct), req);
        return;
    }
    lat_get_far(call, ctx, dest, source, bytes, pe);
    lat_ct_arrive(call, ct, 1, pe);
    if (req)
        uccs_request_stored(req);
}

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
                                size_t size, uint64_t value, uint64_t cond, int pe, void *fetch, shmemx_request_t *req)
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
                                   size_t size, uint64_t value, uint64_t cond, int pe, shmemx_request_t *req)
{
    if (!uccs_far_pe(pe))
        return lat_amo_far(call, ctx, op, dest, size, value, cond, pe);
    lat_require(call);
    uccs_far_amo_post(lat_ctx_lanes(ctx), pe, (enum uccs_far_amo)op, lat_far_place(call, "dest", dest, pe), size, value,
                      cond, req);
    return 0;
}
