/* Accumulate, compare-and-swap and atomics of uccs.h; mem/accumulate.h defines them and their domains. */
#include "uccs/core/pe_shared.h"
#include "uccs/mem/dynamic.h"
#include "uccs/rma/inner.h"

#include <string.h>

/* Returns true in the common case: the memory is mapped and alive, and nothing else is asked for. */
static inline bool is_plain(const struct uccs_endpoint *endpoint, const struct uccs_region *memory, size_t offset,
                            const struct uccs_accumulate_op *change, const struct uccs_op *op)
{
    size_t bytes;
    return lat_likely(endpoint && memory && !op && !endpoint->ordered && endpoint->pe == memory->owner &&
                      memory->near && !__builtin_mul_overflow(change->n, uccs_accumulate_size(change->type), &bytes) &&
                      uccs_region_check(memory, offset, bytes) == UCCS_OK);
}

static int run_any(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                   const struct uccs_accumulate_op *change, const void *operand, void *result, const struct uccs_op *op)
{
    return uccs_rma_run(&(struct uccs_rma){.kind = RMA_CHANGE,
                                           .endpoint = endpoint,
                                           .memory = memory,
                                           .offset = offset,
                                           .local = (char *)operand,
                                           .change = change,
                                           .result = result,
                                           .op = op});
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
    return run_any(endpoint, memory, offset, change, operand, result, op);
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

/* Checks a piece of an accumulate. */
static int check_piece(uccs_memory_t memory, const struct uccs_piece *piece, size_t size, enum uccs_reduction how)
{
    if ((piece->length & (size - 1)) || (piece->length && !piece->local && how != UCCS_NO_OP))
        return UCCS_ERR_INVALID;
    return uccs_region_check(memory, piece->offset, piece->length);
}

/* Pieces that this process changes itself. */
static int change_near(uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                       const struct uccs_accumulate_op *change)
{
    const struct uccs_accumulate_target all = {memory->owner, memory->domain, memory->address, memory->near, memory};
    const size_t size = uccs_type_size((enum uccs_type)change->type);
    int status = UCCS_OK;
    size_t right = 0;
    while (right < n && (status = check_piece(memory, &pieces[right], size, change->how)) == UCCS_OK)
        right++;
    const int changed = uccs_accumulate_apply_pieces(change, &all, pieces, right);
    return changed == UCCS_OK ? status : changed;
}

int uccs_accumulate_pieces(uccs_endpoint_t endpoint, uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                           enum uccs_type type, enum uccs_reduction how, const struct uccs_op *op)
{
    const size_t size = uccs_type_size(type);
    const struct uccs_accumulate_op change = {(uint8_t)type, (uint8_t)how, 0};
    int status = UCCS_OK;
    if (lat_unlikely(!endpoint || !memory || (n && !pieces) || !uccs_type_takes(type, how)))
        return UCCS_ERR_INVALID;
    if (!op && !endpoint->ordered && endpoint->pe == memory->owner && !memory->dynamic &&
        (memory->near || (!memory->import && uccs_cma_reaches(memory))))
        return change_near(memory, pieces, n, &change);
    if (n && uccs_region_far(memory)) {
        for (size_t i = 0; i < n && status == UCCS_OK; i++)
            status = check_piece(memory, &pieces[i], size, how);
        return status != UCCS_OK ? status
                                 : uccs_rma_run(&(struct uccs_rma){.kind = RMA_CHANGE,
                                                                   .endpoint = endpoint,
                                                                   .memory = memory,
                                                                   .pieces = pieces,
                                                                   .n = n,
                                                                   .change = &change,
                                                                   .op = op});
    }
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = pieces[i].length & (size - 1) ? UCCS_ERR_INVALID
                                               : uccs_accumulate(endpoint, memory, pieces[i].offset, pieces[i].local, 0,
                                                                 pieces[i].length / size, type, how, op);
    return status;
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

/* --- Atomics are accumulates of one word. A plain one on mapped memory is done here */

static __attribute__((noinline)) int run_atomic(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                                const struct uccs_atomic_op *a, void *result, const struct uccs_op *op)
{
    uint64_t operand[2];
    if ((unsigned)a->what > UCCS_ATOMIC_XOR)
        return UCCS_ERR_INVALID;
    const struct uccs_accumulate_op change = uccs_accumulate_of_atomic(a, operand);
    const int status = uccs_rma_check(endpoint, memory, offset, a->size, op);
    if (status == UCCS_OK && (memory->address + offset) % a->size)
        return UCCS_ERR_INVALID;
    return status == UCCS_OK ? run_any(endpoint, memory, offset, &change, operand, result, op) : status;
}

int uccs_atomic(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t size, enum uccs_atomic what,
                uint64_t operand, uint64_t compare, void *result, const struct uccs_op *op)
{
    const struct uccs_atomic_op a = {what, (uint32_t)size, operand, compare};
    if (lat_unlikely(size != 4 && size != 8))
        return UCCS_ERR_INVALID;
    if (lat_unlikely(!endpoint || !memory || op || endpoint->ordered || endpoint->pe != memory->owner ||
                     !memory->near || memory->domain != UCCS_DOMAIN_CPU || (memory->address + offset) % size ||
                     (unsigned)what > UCCS_ATOMIC_XOR || uccs_region_check(memory, offset, size) != UCCS_OK))
        return run_atomic(endpoint, memory, offset, &a, result, op);
    const uint64_t old = uccs_atomic_apply(&a, memory->near + offset);
    if (result)
        uccs_store_value(result, size, old);
    return UCCS_OK;
}
