/* The out-of-line half of put, get and atomics: peers whose memory is not plainly here, and the
 * program's mistakes, each named once. Any thread. */
#include "shmem/amo.h"
#include "shmem/rma.h"
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

/* Nothing to move is no mistake as long as the PE exists. */
static bool nothing(const char *call, size_t bytes, int pe)
{
    lat_require(call);
    return bytes == 0 && pe >= 0 && pe < uccs_core.npes;
}

lat_cold void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                          int pe)
{
    (void)ctx;
    if (!nothing(call, bytes, pe))
        memcpy(lat_resolve(call, "dest", dest, pe), source, bytes);
}

lat_cold void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                          int pe)
{
    (void)ctx;
    if (!nothing(call, bytes, pe))
        memcpy(dest, lat_resolve(call, "source", source, pe), bytes);
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

lat_cold uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum lat_amo op, const void *dest,
                              size_t size, uint64_t value, uint64_t cond, int pe)
{
    (void)ctx;
    void *to = lat_resolve(call, op == LAT_AMO_FETCH ? "source" : "dest", dest, pe);
    return size == 4 ? apply32(op, to, (uint32_t)value, (uint32_t)cond) : apply64(op, to, value, cond);
}
