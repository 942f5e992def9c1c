/* Atomics: what the generated thunks need beside src/base/atomic.h. Any thread; no state.
 *
 * Thunks reach a peer on the node by the processor's atomics; everything else goes to the far halves, and so does memory whose atomics
 * the network's adapter does. Orders: read-modify-writes are acquire-release, a fetch acquires and a set releases, and each is the
 * partner of the others (and of wait_until). */
#ifndef SHMEM_AMO_H
#define SHMEM_AMO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "uccs/mem/atomic.h"

struct shmem_ctx_impl;
struct uccs_request;

/* The slow half: `dest` of `pe` is not mapped here, or the program is wrong, and then it names the mistake. `value` and `cond` are the
 * operand's bits, zero- or sign-extended from `size` (4 or 8) bytes; only the low `size` bytes count. Returns the old bits. Without a
 * context the word is one that no program accesses by atomics, such as a lock: the processor of `pe` does it on any memory. */
uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                     uint64_t value, uint64_t cond, int pe);

/* The same, but on another node the operation goes on after the return. The old value is at `fetch`, which may be null, when the context
 * is quiet or the request complete. req may be null. */
void lat_amo_start_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                       uint64_t value, uint64_t cond, int pe, void *fetch, struct uccs_request **req);

/* Bits of a real operand of 4 or 8 bytes for lat_amo_far, and back. Near atomics of reals are the compiler's generic forms. */
static inline uint64_t lat_bits_of(const void *real, size_t size)
{
    uint32_t half;
    uint64_t bits;
    if (size == sizeof bits)
        return memcpy(&bits, real, sizeof bits), bits;
    return memcpy(&half, real, sizeof half), half;
}

static inline void lat_store_bits(void *real, size_t size, uint64_t bits)
{
    const uint32_t half = (uint32_t)bits;
    memcpy(real, size == sizeof bits ? (const void *)&bits : &half, size);
}

#endif
