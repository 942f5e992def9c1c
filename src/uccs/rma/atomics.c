/* Atomics of the public interface. A plain one on mapped memory is done here; op.c does everything else.
 * mem/atomic.h defines the rules of domains. */
#include "uccs/rma/inner.h"

static __attribute__((noinline)) int run_any(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                             const struct uccs_atomic_op *a, void *result, const struct uccs_op *op)
{
    return uccs_rma_run(&(struct uccs_rma){.kind = RMA_ATOMIC,
                                           .endpoint = endpoint,
                                           .memory = memory,
                                           .offset = offset,
                                           .atomic = a,
                                           .result = result,
                                           .op = op});
}

static inline int run_atomic(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                             const struct uccs_atomic_op *a, void *result, const struct uccs_op *op)
{
    if (lat_unlikely(!endpoint || !memory || op || endpoint->ordered || endpoint->pe != memory->owner ||
                     !memory->near || memory->domain != UCCS_DOMAIN_CPU || (memory->address + offset) % a->size ||
                     (unsigned)a->what > UCCS_ATOMIC_XOR || uccs_region_check(memory, offset, a->size) != UCCS_OK))
        return run_any(endpoint, memory, offset, a, result, op);
    uint64_t old = uccs_atomic_apply(a, memory->near + offset);
    if (result)
        proto_store_value(result, a->size, old);
    return UCCS_OK;
}

int uccs_atomic(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t size, enum uccs_atomic what,
                uint64_t operand, uint64_t compare, void *result, const struct uccs_op *op)
{
    if (lat_unlikely(size != 4 && size != 8))
        return UCCS_ERR_INVALID;
    return run_atomic(endpoint, memory, offset, &(struct uccs_atomic_op){what, (uint32_t)size, operand, compare},
                      result, op);
}
