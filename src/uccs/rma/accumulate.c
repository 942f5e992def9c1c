/* Accumulate and compare-and-swap of uccs.h; mem/accumulate.h defines them and their domains. */
#include "uccs/core/pe_shared.h"
#include "uccs/rma/inner.h"

#include <string.h>

/* Returns true in the common case: the memory is mapped and alive, and nothing else is asked for. */
static inline bool is_plain(const struct uccs_endpoint *endpoint, const struct uccs_region *memory, size_t offset,
                            const struct uccs_accumulate_op *change, const struct uccs_op *op)
{
    size_t bytes;
    return lat_likely(endpoint && memory && !op && !endpoint->ordered && endpoint->pe == memory->owner &&
                      memory->near &&
                      !__builtin_mul_overflow(change->n, uccs_type_size((enum uccs_type)change->type), &bytes) &&
                      uccs_region_check(memory, offset, bytes) == UCCS_OK);
}

static int run_accumulate(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                          const struct uccs_accumulate_op *change, const void *operand, void *result,
                          const struct uccs_op *op)
{
    if (is_plain(endpoint, memory, offset, change, op)) {
        const struct uccs_accumulate_target place = {memory->owner, memory->domain, memory->address + offset,
                                                     memory->near + offset, memory};
        return uccs_accumulate_apply(change, &place, operand, result);
    }
    return uccs_rma_run(&(struct uccs_rma){.kind = RMA_CHANGE,
                                           .endpoint = endpoint,
                                           .memory = memory,
                                           .offset = offset,
                                           .local = (char *)operand,
                                           .change = change,
                                           .result = result,
                                           .op = op});
}

/* The common accumulate: reals, complex numbers or pairs of mapped memory, under one lock. Returns false, having done nothing, when the
 * general way is due. */
static inline bool run_quickly(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *operand,
                               size_t n, const struct uccs_fold_cache *quick)
{
    if (lat_unlikely(!endpoint || !memory || endpoint->ordered || endpoint->pe != memory->owner || !memory->near ||
                     !operand || n > PE_SHARED_STRIPE_BYTES))
        return false;
    const size_t bytes = n * quick->size;
    if (lat_unlikely((memory->address + offset) % PE_SHARED_STRIPE_BYTES + bytes > PE_SHARED_STRIPE_BYTES ||
                     uccs_region_check(memory, offset, bytes) != UCCS_OK))
        return false;
    uint32_t *lock = uccs_atomic_lock(memory->owner, memory->address + offset);
    quick->fold(memory->near + offset, memory->near + offset, operand, n);
    uccs_atomic_unlock(lock);
    return true;
}

int uccs_accumulate(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *operand, void *result,
                    size_t n, enum uccs_type type, enum uccs_reduction how, const struct uccs_op *op)
{
    const struct uccs_fold_cache *quick = result || op ? 0 : uccs_fold_cache_of(type, how);
    if (quick && run_quickly(endpoint, memory, offset, operand, n, quick))
        return UCCS_OK;
    if (lat_unlikely(!uccs_type_takes(type, how) || (n && !operand && how != UCCS_NO_OP)))
        return UCCS_ERR_INVALID;
    const struct uccs_accumulate_op change = {(uint8_t)type, (uint8_t)how, n};
    return run_accumulate(endpoint, memory, offset, &change, operand, result, op);
}

int uccs_compare_and_swap(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t size,
                          const void *operand, const void *compare, void *result, const struct uccs_op *op)
{
    static const uint8_t types[] =
        {[1] = UCCS_UINT8, [2] = UCCS_UINT16, [4] = UCCS_UINT32, [8] = UCCS_UINT64, [16] = UCCS_DOUBLE_COMPLEX};
    char both[2 * 16];
    if (lat_unlikely(size == 0 || size > 16 || (size & (size - 1)) || !operand || !compare))
        return UCCS_ERR_INVALID;
    memcpy(both, operand, size);
    memcpy(both + size, compare, size);
    const struct uccs_accumulate_op change = {types[size], UCCS_ACCUMULATE_SWAP, 1};
    return run_accumulate(endpoint, memory, offset, &change, both, result, op);
}

int uccs_accumulate_intrinsic(uccs_endpoint_t endpoint, uccs_memory_t memory, enum uccs_type type,
                              enum uccs_reduction how)
{
    if (!endpoint || !memory || !memory->near || !uccs_type_takes(type, how))
        return 0;
    return uccs_accumulate_atomic(&(struct uccs_accumulate_op){(uint8_t)type, (uint8_t)how, 1}, memory->domain, 0);
}
