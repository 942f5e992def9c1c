/* Put and get: the near half, inline in the generated thunks. A peer on the node is memory.
 *
 * Any thread. `call` is the public name, for messages. `size` is a constant at every caller, so one element costs
 * one load and one store. */
#ifndef SHMEM_RMA_H
#define SHMEM_RMA_H

#include "shmem/ctx.h"
#include "shmem/place.h"
#include "uccs/core/memory.h"

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

/* The same for one element and more. */
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

#endif
