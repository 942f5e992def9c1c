/* Point-to-point synchronisation: waiting for a local variable that peers store to.
 *
 * Any thread. Loads are acquire: their partners are the release stores of fence, signal and atomics,
 * so what a peer ordered before the store is visible after the wait. */
#ifndef SHMEM_P2P_H
#define SHMEM_P2P_H

#include "base/kind.h"
#include "shmem/rma.h"
#include "shmem/state.h"
#include "uccs/comp/request.h"
#include "uccs/core/wait.h"

#include <shmem.h>
#include <stdbool.h>

/* Loads the variable and extends its sign, so that one comparison serves all widths. */
static lat_hot uint64_t lat_load(enum kind kind, const void *at)
{
    switch (kind) {
    case KIND_I16: return (uint64_t)(int64_t)atomic_load_acquire((const int16_t *)at);
    case KIND_U16: return atomic_load_acquire((const uint16_t *)at);
    case KIND_I32: return (uint64_t)(int64_t)atomic_load_acquire((const int32_t *)at);
    case KIND_U32: return atomic_load_acquire((const uint32_t *)at);
    default: return atomic_load_acquire((const uint64_t *)at);
    }
}

static lat_hot bool lat_is_signed(enum kind kind)
{
    return kind == KIND_I16 || kind == KIND_I32 || kind == KIND_I64;
}

/* Adding half the range to signed values makes their order the unsigned one. */
static lat_hot bool lat_compare(enum kind kind, int cmp, uint64_t a, uint64_t b)
{
    uint64_t bias = lat_is_signed(kind) ? UINT64_C(1) << 63 : 0;
    switch (cmp) {
    case SHMEM_CMP_EQ: return a == b;
    case SHMEM_CMP_NE: return a != b;
    case SHMEM_CMP_GT: return (a ^ bias) > (b ^ bias);
    case SHMEM_CMP_GE: return (a ^ bias) >= (b ^ bias);
    case SHMEM_CMP_LT: return (a ^ bias) < (b ^ bias);
    case SHMEM_CMP_LE: return (a ^ bias) <= (b ^ bias);
    }
    return true; /* no such comparison: return at once rather than hang; --check names the mistake */
}

/* Returns a comparison as C writes it, in two characters. */
static inline const char *lat_compare_text(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return "==";
    case SHMEM_CMP_NE: return "!=";
    case SHMEM_CMP_GT: return "> ";
    case SHMEM_CMP_GE: return ">=";
    case SHMEM_CMP_LT: return "< ";
    default: return "<=";
    }
}

static lat_hot int lat_test(const char *call, enum kind kind, const void *ivar, int cmp, uint64_t value)
{
    lat_require(call);
    if (lat_compare(kind, cmp, lat_load(kind, ivar), value))
        return 1;
    uccs_missed();
    return 0;
}

static lat_hot void lat_wait_until(const char *call, enum kind kind, const void *ivar, int cmp, uint64_t value)
{
    lat_require(call);
    if (lat_compare(kind, cmp, lat_load(kind, ivar), value))
        return;
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_variable(ivar, kind, lat_compare_text(cmp), value)};
    do
        uccs_pause(&wait);
    while (!lat_compare(kind, cmp, lat_load(kind, ivar), value));
}

/* --- Sets of variables, requests or counters, of which a call waits for or tests all, any or some. Members count where `status` is null
 * or has 0; a set without members is satisfied at once. A search for any begins somewhere else each time, so a member that is
 * always true cannot starve the others (OpenSHMEM 1.6, fairness of wait_until_any); one for some returns all it finds. */

struct lat_set {
    bool (*holds)(struct lat_set *set, size_t i);
    const void *members;
    size_t n;
    const int *status;
    /* Of variables: */
    enum kind kind;
    int cmp;
    uint64_t value;
    const void *values;         /* null: all against `value` */
    struct node_wait_reason on; /* of a wait */
    size_t *turn;               /* keeps where the next search for any begins; null: nobody does */
    bool fenced;                /* of requests: this thread has made a fence since the call began */
    size_t from; /* of all: the members before it hold, and are not looked at again: they may have changed */
};

enum lat_which { LAT_ALL, LAT_ANY, LAT_SOME };

/* Return, of all: 1, or 0 when one does not hold; of any: its number, or SIZE_MAX; of some: how many, which `indices` lists. */
size_t lat_set_test(struct lat_set *set, enum lat_which which, size_t *indices);
size_t lat_set_wait(struct lat_set *set, enum lat_which which, size_t *indices);

bool lat_variable_holds(struct lat_set *set, size_t i);

/* Signals: put data, then update a 64-bit word at the same PE (OpenSHMEM 1.6, section 9.8).
 *
 * Any thread. The update is a release store or addition. A PE that sees it by an acquire load (signal_wait_until,
 * wait_until, signal_fetch) sees the data too. On the node non-blocking forms are complete when they return. */

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
