/* Sets of variables, requests and counters (p2p.h): one search, and the calls that test or wait by it. */
#include "shmem/p2p.h"

#include "shmem/calls.h"
#include "shmem/place.h"
#include "uccs/core/wait.h"

/* cmp_values is the caller's private array; the atomic load is only the same code for all widths. */
bool lat_variable_holds(struct lat_set *set, size_t i)
{
    const size_t at = i * kind_size(set->kind);
    uint64_t value = set->values ? lat_load(set->kind, (const char *)set->values + at) : set->value;
    return lat_compare(set->kind, set->cmp, lat_load(set->kind, (const char *)set->members + at), value);
}

static bool is_member(const struct lat_set *set, size_t i)
{
    return !set->status || set->status[i] == 0;
}

static bool is_empty(const struct lat_set *set)
{
    size_t n = set->n;
    while (n && !is_member(set, n - 1))
        n--;
    return n == 0;
}

static bool all_hold(struct lat_set *set)
{
    while (set->from < set->n && (!is_member(set, set->from) || set->holds(set, set->from)))
        set->from++;
    return set->from == set->n;
}

/* Returns where the search begins: behind the member that was found last, or at a pseudo-random place, so that no pattern of calls
 * skips a member for ever. */
static size_t start_of(const struct lat_set *set)
{
    static _Thread_local uint64_t state;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return set->n > 1 ? (set->turn ? *set->turn : state >> 33) % set->n : 0;
}

static size_t find_any(struct lat_set *set)
{
    size_t i = start_of(set);
    for (size_t left = set->n; left; left--, i = i + 1 == set->n ? 0 : i + 1)
        if (is_member(set, i) && set->holds(set, i)) {
            if (set->turn)
                *set->turn = i + 1;
            return i;
        }
    return SIZE_MAX;
}

static size_t find_some(struct lat_set *set, size_t *indices)
{
    size_t count = 0;
    for (size_t i = 0; i < set->n; i++)
        if (is_member(set, i) && set->holds(set, i))
            indices[count++] = i;
    return count;
}

static size_t find_in(struct lat_set *set, enum lat_which which, size_t *indices)
{
    switch (which) {
    case LAT_ALL: return all_hold(set);
    case LAT_ANY: return find_any(set);
    default: return find_some(set, indices);
    }
}

size_t lat_set_test(struct lat_set *set, enum lat_which which, size_t *indices)
{
    const size_t found = find_in(set, which, indices);
    if (found == (which == LAT_ANY ? SIZE_MAX : 0))
        uccs_missed();
    return found;
}

/* Tells of the first variable that is awaited still. */
static void tell_variable(const void *what, struct uccs_reason *reason)
{
    struct lat_set set = *(const struct lat_set *)what;
    if (all_hold(&set))
        return;
    const char *variable = (const char *)set.members + set.from * kind_size(set.kind);
    const uint64_t value =
        set.values ? lat_load(set.kind, (const char *)set.values + set.from * kind_size(set.kind)) : set.value;
    reason->on = uccs_reason_variable(variable, set.kind, lat_compare_text(set.cmp), value);
    reason->value = lat_load(set.kind, variable);
}

size_t lat_set_wait(struct lat_set *set, enum lat_which which, size_t *indices)
{
    const size_t none = which == LAT_ANY ? SIZE_MAX : 0;
    struct uccs_wait wait uccs_scoped = {
        .on = set->holds == lat_variable_holds ? uccs_reason_function(tell_variable, set) : set->on};
    size_t found;
    if (which != LAT_ALL && is_empty(set))
        return none;
    while ((found = find_in(set, which, indices)) == none)
        uccs_pause(&wait);
    return found;
}

static bool is_signal(const char *call, struct proto_notify *with, const uint64_t *sig_addr, uint64_t signal,
                      int sig_op, int pe)
{
    lat_require(call);
    if (!uccs_far_pe(pe)) {
        lat_resolve(call, "sig_addr", sig_addr, pe); /* names the mistake */
        return false;
    }
    *with = (struct proto_notify){.what = sig_op == SHMEM_SIGNAL_ADD ? PROTO_SIGNAL_ADD : PROTO_SIGNAL_SET,
                                  .place = lat_remote_word(call, "sig_addr", sig_addr, sizeof *sig_addr, pe),
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
