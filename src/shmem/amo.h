/*
 * Atomics of the OpenSHMEM layer: what the generated thunks need beside src/base/atomic.h.
 * Thread-safe; no state. Thunks reach a peer on the node by the processor's atomics; everything else
 * goes to lat_amo_far, and so does memory whose atomics the network's adapter does. Orders: read-modify-writes are acquire-release, a
 * fetch acquires and a set releases, and each is the partner of the others (and of wait_until).
 */
#ifndef LATERAL_SHMEM_AMO_H
#define LATERAL_SHMEM_AMO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "uccs/mem/atomic.h"

struct shmem_ctx_impl;
struct uccs_request;

/*
 * The slow half: `dest` of `pe` is not mapped here, or the program is wrong, and then it names the
 * mistake. `value` and `cond` are the operand's bits, zero- or sign-extended from `size` (4 or 8)
 * bytes; only the low `size` bytes count. Returns the old bits.
 */
uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                     uint64_t value, uint64_t cond, int pe);

/* The same for words that no program accesses by atomics, such as locks: the processor of `pe` does it on any memory. */
uint64_t lat_amo_processor(const char *call, enum uccs_atomic op, const void *dest, size_t size, uint64_t value,
                           uint64_t cond, int pe);

/* The same for callers that do not want the old value: on another node the operation goes on after the return.
 * Returns 0. */
uint64_t lat_amo_post_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                          size_t size, uint64_t value, uint64_t cond, int pe);

/* The same, but it stores the old value at `fetch`: before it returns, or for a PE of another node before the
 * context is quiet or the request complete. req may be null. */
void lat_amo_fetch_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                       uint64_t value, uint64_t cond, int pe, void *fetch, struct uccs_request **req);

/* The same without the old value, tracked by a request. */
uint64_t lat_amo_post_nbe(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest,
                          size_t size, uint64_t value, uint64_t cond, int pe, struct uccs_request **req);

/* Bits of a real operand for lat_amo_far, and back. */
static inline uint64_t lat_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t lat_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float lat_float_of_bits(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline double lat_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Reals have fetch, set and swap only. The typed builtins of base/atomic.h take integers, so
 * these use the compiler's generic forms, with the orders given above. */
static inline float lat_load_acquire_float(const float *at)
{
    float value;
    __atomic_load(at, &value, __ATOMIC_ACQUIRE);
    return value;
}

static inline double lat_load_acquire_double(const double *at)
{
    double value;
    __atomic_load(at, &value, __ATOMIC_ACQUIRE);
    return value;
}

static inline void lat_store_release_float(float *at, float value)
{
    __atomic_store(at, &value, __ATOMIC_RELEASE);
}

static inline void lat_store_release_double(double *at, double value)
{
    __atomic_store(at, &value, __ATOMIC_RELEASE);
}

static inline float lat_exchange_acqrel_float(float *at, float value)
{
    float old;
    __atomic_exchange(at, &value, &old, __ATOMIC_ACQ_REL);
    return old;
}

static inline double lat_exchange_acqrel_double(double *at, double value)
{
    double old;
    __atomic_exchange(at, &value, &old, __ATOMIC_ACQ_REL);
    return old;
}

#endif
