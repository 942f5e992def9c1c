#include "shmem/signal.h"

#include "shmem/calls.h"
#include "shmem/p2p.h"

void lat_signal_add(uint64_t *sig_addr, uint64_t signal, int pe)
{
    lat_signal("shmem_signal_add", LAT_CTX_DEFAULT, sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}

void lat_signal_set(uint64_t *sig_addr, uint64_t signal, int pe)
{
    lat_signal("shmem_signal_set", LAT_CTX_DEFAULT, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}

void lat_ctx_signal_add(struct shmem_ctx_impl *ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    pe = lat_ctx_pe("shmem_ctx_signal_add", ctx, pe);
    lat_signal("shmem_ctx_signal_add", ctx, sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}

void lat_ctx_signal_set(struct shmem_ctx_impl *ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    pe = lat_ctx_pe("shmem_ctx_signal_set", ctx, pe);
    lat_signal("shmem_ctx_signal_set", ctx, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}

/* With PEs on other nodes, or not running. A loop of fetches is a wait as well. */
static lat_cold void fetch_far(void)
{
    lat_require("shmem_signal_fetch");
    uccs_work_on();
}

uint64_t lat_signal_fetch(const uint64_t *sig_addr)
{
    if (lat_unlikely(!lat_on_node))
        fetch_far();
    return atomic_load_acquire(sig_addr); /* release: lat_signal */
}

/* Returns the very value that satisfied the condition. */
uint64_t lat_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    struct uccs_wait wait = {0};
    uint64_t value;
    lat_require("shmem_signal_wait_until");
    while (!lat_compare(LAT_U64, cmp, value = atomic_load_acquire(sig_addr), cmp_value)) /* release: lat_signal */
        uccs_pause(&wait);
    return value;
}
