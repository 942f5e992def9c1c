#include "uccs/mem/atomic.h"

#include "uccs/core/pe_shared.h"
#include "uccs/core/wait.h"

static lat_cold uint32_t *wait_for_lock(uint32_t *lock)
{
    struct uccs_wait wait uccs_scoped = {0};
    do
        while (atomic_load_relaxed(lock))
            uccs_rest(&wait);
    while (atomic_exchange_acquire(lock, 1)); /* release: uccs_atomic_unlock */
    return lock;
}

uint32_t *uccs_atomic_lock(int owner, uint64_t address)
{
    struct uccs_pe_shared *own = uccs_pe_shared_of(uccs_index(owner));
    uint32_t *lock = &own->stripes[address / PE_SHARED_STRIPE_BYTES % PE_SHARED_STRIPES].lock;
    return lat_likely(!atomic_exchange_acquire(lock, 1)) ? lock : wait_for_lock(lock); /* release: uccs_atomic_unlock */
}

void uccs_atomic_unlock(uint32_t *lock)
{
    atomic_store_release(lock, 0); /* acquire: uccs_atomic_lock */
}
