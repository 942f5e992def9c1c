/* Atomics of the public interface.
 *
 * One domain per memory, fixed at its registration (design §3): mapped memory by the processor's own atomics; memory
 * that is not mapped under a lock of its owner's stripe, on every path, the owner's own included. */
#include "uccs/rma.h"

#include "uccs/own.h"
#include "uccs/progress.h"

#define APPLY(bits)                                                                                             \
    static uint##bits##_t apply##bits(enum uccs_atomic what, uint##bits##_t *word, uint##bits##_t operand,      \
                                      uint##bits##_t compare)                                                   \
    {                                                                                                           \
        switch (what) {                                                                                         \
        case UCCS_ATOMIC_FETCH: return atomic_load_acquire(word);                                               \
        case UCCS_ATOMIC_SET:                                                                                   \
        case UCCS_ATOMIC_SWAP: return atomic_exchange_acqrel(word, operand);                                    \
        case UCCS_ATOMIC_CSWAP: (void)atomic_cas_acqrel(word, &compare, operand); return compare;               \
        case UCCS_ATOMIC_ADD: return atomic_fetch_add_acqrel(word, operand);                                    \
        case UCCS_ATOMIC_AND: return atomic_fetch_and_acqrel(word, operand);                                    \
        case UCCS_ATOMIC_OR: return atomic_fetch_or_acqrel(word, operand);                                      \
        case UCCS_ATOMIC_XOR: return atomic_fetch_xor_acqrel(word, operand);                                    \
        }                                                                                                       \
        return 0;                                                                                               \
    }

APPLY(32)
APPLY(64)

struct atomic {
    enum uccs_atomic what;
    uint64_t operand, compare;
    size_t size;
};

static uint64_t apply(const struct atomic *a, void *word)
{
    return a->size == 4 ? apply32(a->what, word, (uint32_t)a->operand, (uint32_t)a->compare)
                        : apply64(a->what, word, a->operand, a->compare);
}

static uint32_t *stripe_of(const struct uccs_region *memory, size_t offset)
{
    uint64_t line = (memory->address + offset) / CACHE_LINE;
    return &uccs_own_of((uint32_t)memory->owner - uccs_core.first)->stripes[line % OWN_STRIPES].lock;
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

/* Under the lock: read, change, write back. */
static int apply_locked(const struct atomic *a, const struct uccs_region *memory, size_t offset, uint64_t *old)
{
    uint64_t word = 0;
    uint32_t *stripe = stripe_of(memory, offset);
    lock(stripe);
    int status = UCCS_OK;
    if (memory->near) {
        *old = apply(a, memory->near + offset);
    } else if ((status = uccs_kernel_get(memory, offset, &word, a->size)) == UCCS_OK) {
        *old = apply(a, &word);
        if (a->what != UCCS_ATOMIC_FETCH)
            status = uccs_kernel_put(memory, offset, &word, a->size);
    }
    unlock(stripe);
    return status;
}

static int run(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
               const struct atomic *a, uint64_t *old, const struct uccs_op *op)
{
    int status = uccs_rma_check(context, endpoint, memory, offset, a->size);
    if (status == UCCS_OK && ((memory->address + offset) % a->size || a->what > UCCS_ATOMIC_XOR))
        status = UCCS_ERR_INVALID;
    if (lat_unlikely(status != UCCS_OK))
        return status;
    uccs_rma_before(context, op);
    if (lat_likely(memory->domain == UCCS_DOMAIN_CPU))
        *old = apply(a, memory->near + offset);
    else if ((status = apply_locked(a, memory, offset, old)) != UCCS_OK)
        return status;
    return uccs_rma_after(endpoint, op);
}

int uccs_atomic32(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint32_t operand, uint32_t compare, uint32_t *result, const struct uccs_op *op)
{
    uint64_t old = 0;
    int status = run(context, endpoint, memory, offset, &(struct atomic){what, operand, compare, 4}, &old, op);
    if (result && status == UCCS_OK)
        *result = (uint32_t)old;
    return status;
}

int uccs_atomic64(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint64_t operand, uint64_t compare, uint64_t *result, const struct uccs_op *op)
{
    uint64_t old = 0;
    int status = run(context, endpoint, memory, offset, &(struct atomic){what, operand, compare, 8}, &old, op);
    if (result && status == UCCS_OK)
        *result = old;
    return status;
}
