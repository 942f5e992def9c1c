#include "shmem/signal.h"

#include "shmem/calls.h"
#include "shmem/p2p.h"
#include "shmem/place.h"
#include "uccs/core/wait.h"

static bool is_signal(const char *call, struct proto_notify *with, const uint64_t *sig_addr, uint64_t signal,
                      int sig_op, int pe)
{
    lat_require(call);
    if (!uccs_far_pe(pe)) {
        lat_resolve(call, "sig_addr", sig_addr, pe); /* names the mistake */
        return false;
    }
    *with = (struct proto_notify){.what = sig_op == SHMEM_SIGNAL_ADD ? PROTO_SIGNAL_ADD : PROTO_SIGNAL_SET,
                                  .place = lat_remote_address(call, "sig_addr", sig_addr, pe),
                                  .value = signal};
    return true;
}

static enum uccs_atomic update_of(int sig_op)
{
    return sig_op == SHMEM_SIGNAL_ADD ? UCCS_ATOMIC_ADD : UCCS_ATOMIC_SET;
}

/* At a PE of another node: data, then the signal by the network's adapter, which has the signal's atomics. */
static void put_and_signal_apart(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source,
                                 size_t bytes, const struct proto_notify *with, int sig_op, int pe, bool blocking,
                                 struct uccs_request **req)
{
    const struct uccs_atomic_op update = {update_of(sig_op), sizeof with->value, with->value, 0};
    if (bytes)
        lat_put_far(call, ctx, dest, source, bytes, pe, 0, blocking, req);
    (void)proto_rma_or_end(&(struct proto_op){.kind = PROTO_ATOMIC,
                                              .nonblocking = true,
                                              .ordered = true,
                                              .adapter = true,
                                              .pe = pe,
                                              .on = lat_ctx_workers(ctx),
                                              .at = with->place,
                                              .atomic = &update,
                                              .request = req});
}

void lat_put_signal_far(const char *call, struct shmem_ctx_impl *ctx, void *dest, const void *source, size_t bytes,
                        uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, bool blocking,
                        struct uccs_request **req)
{
    struct proto_notify with;
    if (is_signal(call, &with, sig_addr, signal, sig_op, pe)) {
        if (uccs_memory_of_adapter(sig_addr))
            put_and_signal_apart(call, ctx, dest, source, bytes, &with, sig_op, pe, blocking, req);
        else
            lat_put_far(call, ctx, dest, source, bytes, pe, &with, blocking, req);
        return;
    }
    lat_put_far(call, ctx, dest, source, bytes, pe, 0, true, 0);
    lat_amo_far(call, ctx, update_of(sig_op), sig_addr, sizeof signal, signal, 0, pe);
    if (req)
        uccs_request_stored(req);
}

void lat_signal_far(const char *call, struct shmem_ctx_impl *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op,
                    int pe)
{
    struct proto_notify with;
    if (!is_signal(call, &with, sig_addr, signal, sig_op, pe))
        lat_amo_far(call, ctx, update_of(sig_op), sig_addr, sizeof signal, signal, 0, pe);
    else
        lat_put_signal_far(call, ctx, 0, 0, 0, sig_addr, signal, sig_op, pe, false, 0);
}

uint64_t lat_signal_fetch(const uint64_t *sig_addr)
{
    uccs_fetched();
    return atomic_load_acquire(sig_addr); /* release: lat_signal */
}

/* Returns the value that satisfied the condition, even if the word has changed since. */
uint64_t lat_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    uint64_t value;
    struct uccs_wait wait uccs_scoped = {
        .on = uccs_reason_variable(sig_addr, KIND_U64, lat_compare_text(cmp), cmp_value)};
    while (!lat_compare(KIND_U64, cmp, value = atomic_load_acquire(sig_addr), cmp_value)) /* release: lat_signal */
        uccs_pause(&wait);
    return value;
}
