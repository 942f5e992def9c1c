/* Signals: put data, then update a 64-bit word at the same PE (OpenSHMEM 1.6, section 9.8).
 *
 * Any thread. The update is a release store or addition. A PE that sees it by an acquire load (signal_wait_until,
 * wait_until, signal_fetch) sees the data too. On the node non-blocking forms are complete when they return. */
#ifndef SHMEM_SIGNAL_H
#define SHMEM_SIGNAL_H

#include "shmem/amo.h"
#include "shmem/rma.h"
#include "uccs/comp/request.h"

#include <shmem.h>

void lat_signal_far(const char *call, struct shmem_ctx_impl *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op,
                    int pe);

/* The signal of a PE on this node. */
static lat_hot void lat_signal_near(uint64_t *to, uint64_t signal, int sig_op)
{
    if (sig_op == SHMEM_SIGNAL_ADD)
        atomic_fetch_add_acqrel(to, signal); /* acquire: signal_wait_until */
    else
        atomic_store_release(to, signal); /* acquire: signal_wait_until */
}

static lat_hot void lat_signal(const char *call, struct shmem_ctx_impl *ctx, uint64_t *sig_addr, uint64_t signal,
                               int sig_op, int pe)
{
    uint64_t *to = uccs_near(sig_addr, pe);
    if (lat_unlikely(!to))
        lat_signal_far(call, ctx, sig_addr, signal, sig_op, pe);
    else
        lat_signal_near(to, signal, sig_op);
}

/* To a peer on another node: data and signal in one message. req may be null. */
void lat_put_signal_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                        uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, bool blocking,
                        struct uccs_request **req);

/* The forms differ by constants: blocking or not, with a request or null. */
static lat_hot void lat_put_signal(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                   size_t nelems, size_t size, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                   bool blocking, uccs_request_handle *req)
{
    uint64_t *to = uccs_near(sig_addr, pe);
    if (lat_unlikely(!to)) {
        lat_put_signal_far(call, ctx, dest, source, lat_bytes(call, nelems, size), sig_addr, signal, sig_op, pe,
                           blocking, req);
        return;
    }
    if (nelems)
        lat_put_before(call, ctx, dest, source, nelems, size, pe);
    lat_signal_near(to, signal, sig_op);
    if (req)
        uccs_request_stored(req);
}

#endif
