/* Put and get: the near half, inline in the generated thunks. A peer on the node is memory.
 *
 * Any thread. `call` is the public name, for messages. `size` is a constant at every caller, so one element costs
 * one load and one store. */
#ifndef SHMEM_RMA_H
#define SHMEM_RMA_H

#include "base/atomic.h"
#include "shmem/ctx.h"
#include "shmem/place.h"
#include "uccs/core/memory.h"
#include "uccs/mem/accumulate.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The far halves, out of line, serve PEs of other nodes and name mistakes. A blocking put returns when the source may be used again, a
 * blocking get when the data is there. The request counts another one until it completes; null: there is none. To a PE of another node
 * `with` is a count or a signal that tells the target of the data in one message; null: there is none. Without bytes the address at the PE
 * may be null. */
void lat_put_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                 const struct proto_notify *with, bool blocking, uccs_request_handle *req);
void lat_get_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes, int pe,
                 const struct proto_notify *with, bool blocking, uccs_request_handle *req);

/* Blocks of `bsize` elements of `size` bytes, dst and sst elements apart. req may be null. */
void lat_iput(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe, uccs_request_handle *req);
void lat_iget(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, ptrdiff_t dst,
              ptrdiff_t sst, size_t bsize, size_t nblocks, size_t size, int pe, uccs_request_handle *req);

/* One element is one load and one store. */
static lat_hot void lat_move(const char *call, void *to, const void *from, size_t nelems, size_t size)
{
    if (nelems == 1)
        memcpy(to, from, size);
    else
        memcpy(to, from, lat_bytes(call, nelems, size));
}

/* On the node the non-blocking forms complete in place, too. */
static lat_hot void lat_put(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t nelems,
                            size_t size, int pe, bool blocking)
{
    void *to = uccs_near(dest, pe);
    if (lat_likely(to != 0))
        lat_move(call, to, source, nelems, size);
    else
        lat_put_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, 0, blocking, 0);
}

static lat_hot void lat_get(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t nelems,
                            size_t size, int pe, bool blocking)
{
    const void *from = uccs_near(source, pe);
    if (lat_likely(from != 0))
        lat_move(call, dest, from, nelems, size);
    else
        lat_get_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, 0, blocking, 0);
}

/* Copies data behind which the caller writes a word that tells of it. Behind long data it keeps the processor from writing the word
 * ahead of time: AMD's processors (measured on a Zen 5) else fetch the word's line, at which the receiver is looking, as soon as
 * they see the instruction, while the data leaves. 4 KiB and an addition behind them took 470 ns, not 350, between cores that
 * share no cache below the L3. Shorter messages would take longer for it. */
void lat_move_more(void *to, const void *from, size_t bytes);

/* Moves one element or more to memory of this node. */
static lat_hot void lat_move_before(const char *call, void *to, const void *from, size_t nelems, size_t size)
{
    if (nelems == 1)
        memcpy(to, from, size);
    else
        lat_move_more(to, from, lat_bytes(call, nelems, size));
}

/* A put to a PE of this node, behind which the caller writes a word there. */
static lat_hot void lat_put_before(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                   size_t nelems, size_t size, int pe)
{
    void *to = uccs_near(dest, pe);
    if (lat_unlikely(!to)) {
        lat_put_far(call, ctx, dest, source, lat_bytes(call, nelems, size), pe, 0, true, 0);
        return;
    }
    lat_move_before(call, to, source, nelems, size);
}

/* Atomics: what the generated thunks need beside src/base/atomic.h. Any thread; no state.
 *
 * Thunks reach a peer on the node by the processor's atomics; everything else goes to the far halves, and so does memory whose atomics
 * the network's adapter does. Orders: read-modify-writes are acquire-release, a fetch acquires and a set releases, and each is the
 * partner of the others (and of wait_until). */

/* The slow half: `dest` of `pe` is not mapped here, or the program is wrong, and then it names the mistake. `value` and `cond` are the
 * operand's bits, zero- or sign-extended from `size` (4 or 8) bytes; only the low `size` bytes count. Returns the old bits. Without a
 * context the word is one that no program accesses by atomics, such as a lock: the processor of `pe` does it on any memory. */
uint64_t lat_amo_far(const char *call, struct shmem_ctx_impl *ctx, enum uccs_atomic op, const void *dest, size_t size,
                     uint64_t value, uint64_t cond, int pe);

/* Like lat_amo_far, but on another node the operation goes on after the return. The old value is at `fetch`, which may be null, when the context
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
