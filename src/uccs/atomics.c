/* Atomics of the public interface.
 *
 * One domain per memory, fixed at its registration (design §3): mapped memory by the processor's own atomics; memory
 * that is not mapped under a lock of its owner's stripe, on every path, the owner's own included. */
#include "uccs/rma.h"

#include "uccs/core/own.h"
#include "uccs/core/wait.h"
#include "uccs/rma_far.h"

#define APPLY(bits)                                                                                        \
    static uint##bits##_t apply##bits(enum uccs_atomic what, uint##bits##_t *word, uint##bits##_t operand, \
                                      uint##bits##_t compare)                                              \
    {                                                                                                      \
        switch (what) {                                                                                    \
        case UCCS_ATOMIC_FETCH: return atomic_load_acquire(word);                                          \
        case UCCS_ATOMIC_SET:                                                                              \
        case UCCS_ATOMIC_SWAP: return atomic_exchange_acqrel(word, operand);                               \
        case UCCS_ATOMIC_CSWAP: (void)atomic_cas_acqrel(word, &compare, operand); return compare;          \
        case UCCS_ATOMIC_ADD: return atomic_fetch_add_acqrel(word, operand);                               \
        case UCCS_ATOMIC_AND: return atomic_fetch_and_acqrel(word, operand);                               \
        case UCCS_ATOMIC_OR: return atomic_fetch_or_acqrel(word, operand);                                 \
        case UCCS_ATOMIC_XOR: return atomic_fetch_xor_acqrel(word, operand);                               \
        }                                                                                                  \
        return 0;                                                                                          \
    }

APPLY(32)
APPLY(64)

static uint64_t apply(const struct uccs_remote_atomic *a, void *word)
{
    return a->size == 4 ? apply32(a->what, word, (uint32_t)a->operand, (uint32_t)a->compare)
                        : apply64(a->what, word, a->operand, a->compare);
}

/* The owner's address decides, so that all paths to a word take the same lock. */
static uint32_t *stripe_of(int owner, uint64_t address)
{
    return &uccs_own_of((uint32_t)owner - uccs_core.first)->stripes[address / CACHE_LINE % OWN_STRIPES].lock;
}

static void lock(uint32_t *word)
{
    struct uccs_wait wait = {0};
    while (atomic_exchange_acquire(word, 1)) /* release: unlock */
        while (atomic_load_relaxed(word))
            uccs_yield(&wait);
}

static void unlock(uint32_t *word)
{
    atomic_store_release(word, 0);
}

uint64_t uccs_atomic_locked_here(const struct uccs_remote_atomic *a, void *word)
{
    uint32_t *stripe = stripe_of(uccs_core.me, (uintptr_t)word);
    lock(stripe);
    uint64_t old = apply(a, word);
    unlock(stripe);
    return old;
}

/* Under the lock: read, change, write back. */
static int apply_by_kernel(const struct uccs_remote_atomic *a, const struct uccs_region *memory, size_t offset,
                           uint64_t *old)
{
    uint64_t word = 0;
    uint32_t *stripe = stripe_of(memory->owner, memory->address + offset);
    lock(stripe);
    int status = uccs_kernel_get(memory, offset, &word, a->size);
    if (status == UCCS_OK) {
        *old = apply(a, &word);
        if (a->what != UCCS_ATOMIC_FETCH)
            status = uccs_kernel_put(memory, offset, &word, a->size);
    }
    unlock(stripe);
    return status;
}

static int apply_locked(struct uccs_context *context, const struct uccs_remote_atomic *a,
                        const struct uccs_region *memory, size_t offset, uint64_t *old)
{
    if (memory->near) {
        *old = uccs_atomic_locked_here(a, memory->near + offset);
        return UCCS_OK;
    }
    return uccs_kernel_reaches(memory) ? apply_by_kernel(a, memory, offset, old)
                                       : uccs_remote_atomic(context, memory, offset, a, old);
}

static int run(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
               const struct uccs_remote_atomic *a, uint64_t *old, bool wanted, const struct uccs_op *op)
{
    int status = uccs_rma_check(context, endpoint, memory, offset, a->size, op);
    if (status == UCCS_OK && ((memory->address + offset) % a->size || (unsigned)a->what > UCCS_ATOMIC_XOR))
        status = UCCS_ERR_INVALID;
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_atomic(context, memory, offset, a, wanted ? old : 0, op);
    uccs_rma_before(context, op);
    if (lat_likely(memory->domain == UCCS_DOMAIN_CPU))
        *old = apply(a, memory->near + offset);
    else if ((status = apply_locked(context, a, memory, offset, old)) != UCCS_OK)
        return status;
    return uccs_rma_after(endpoint, op);
}

int uccs_atomic32(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint32_t operand, uint32_t compare, uint32_t *result, const struct uccs_op *op)
{
    uint64_t old = 0;
    int status = run(context, endpoint, memory, offset, &(struct uccs_remote_atomic){what, 4, operand, compare}, &old,
                     result, op);
    if (result && status == UCCS_OK)
        *result = (uint32_t)old;
    return status;
}

int uccs_atomic64(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint64_t operand, uint64_t compare, uint64_t *result, const struct uccs_op *op)
{
    uint64_t old = 0;
    int status = run(context, endpoint, memory, offset, &(struct uccs_remote_atomic){what, 8, operand, compare}, &old,
                     result, op);
    if (result && status == UCCS_OK)
        *result = old;
    return status;
}
