/* Atomics of the public interface. object/apply.h applies them and defines the rules of domains. */
#include "uccs/object/attach.h"
#include "uccs/rma/inner.h"

/* Under the lock: reads the word, changes it, and writes it back. */
static int apply_by_kernel(const struct uccs_atomic_op *a, const struct uccs_region *memory, size_t offset,
                           uint64_t *old)
{
    uint64_t word = 0;
    uint32_t *lock = uccs_atomic_lock(memory->owner, memory->address + offset);
    int status = uccs_kernel_get(memory, offset, &word, a->size);
    if (status == UCCS_OK) {
        *old = uccs_atomic_apply(a, &word);
        if (a->what != UCCS_ATOMIC_FETCH)
            status = uccs_kernel_put(memory, offset, &word, a->size);
    }
    uccs_atomic_unlock(lock);
    return status;
}

static int apply_locked(struct uccs_context *context, const struct uccs_atomic_op *a, const struct uccs_region *memory,
                        size_t offset, uint64_t *old)
{
    struct uccs_attached_piece word = {.near = memory->near ? memory->near + offset : 0};
    int status = memory->dynamic ? uccs_attached_find(memory, offset, a->size, &word) : UCCS_OK;
    if (status != UCCS_OK)
        return status;
    if (word.near) {
        *old = word.mapped ? uccs_atomic_apply(a, word.near) : uccs_atomic_apply_locked(a, word.near);
        return UCCS_OK;
    }
    return uccs_kernel_reaches(memory) ? apply_by_kernel(a, memory, offset, old)
                                       : uccs_remote_atomic(context, memory, offset, a, old);
}

static int run(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
               const struct uccs_atomic_op *a, uint64_t *old, bool wanted, const struct uccs_op *op)
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
        *old = uccs_atomic_apply(a, memory->near + offset);
    else if ((status = apply_locked(context, a, memory, offset, old)) != UCCS_OK)
        return status;
    return uccs_rma_after(endpoint, op);
}

int uccs_atomic32(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint32_t operand, uint32_t compare, uint32_t *result, const struct uccs_op *op)
{
    uint64_t old = 0;
    int status =
        run(context, endpoint, memory, offset, &(struct uccs_atomic_op){what, 4, operand, compare}, &old, result, op);
    if (result && status == UCCS_OK)
        *result = (uint32_t)old;
    return status;
}

int uccs_atomic64(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                  enum uccs_atomic what, uint64_t operand, uint64_t compare, uint64_t *result, const struct uccs_op *op)
{
    uint64_t old = 0;
    int status =
        run(context, endpoint, memory, offset, &(struct uccs_atomic_op){what, 8, operand, compare}, &old, result, op);
    if (result && status == UCCS_OK)
        *result = old;
    return status;
}
