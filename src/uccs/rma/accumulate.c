/* Accumulate and compare-and-swap of uccs.h; object/accumulate.h applies them and defines the domains. */
#include "uccs/object/attach.h"
#include "uccs/rma/inner.h"

#include "uccs/core/own.h"

#include <string.h>

/* Under the elements' locks: copies the elements of a stripe here, changes the copy and copies it back. */
static int apply_by_kernel(const struct uccs_change *change, const struct uccs_region *memory, size_t offset,
                           const char *operand, char *result)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type);
    char copy[OWN_STRIPE_BYTES + UCCS_TYPE_MOST];
    struct uccs_change some = *change;
    int status = UCCS_OK;
    for (size_t done = 0; done < change->n && status == UCCS_OK; done += some.n) {
        const size_t at = done * size;
        some.n = uccs_change_stripe(memory->address + offset + at, size, change->n - done);
        uint32_t *lock = uccs_atomic_lock(memory->owner, memory->address + offset + at);
        status = uccs_kernel_get(memory, offset + at, copy, some.n * size);
        if (status == UCCS_OK) {
            uccs_change_plainly(&some, copy, operand ? operand + at : 0, result ? result + at : 0);
            if (change->how != UCCS_NO_OP)
                status = uccs_kernel_put(memory, offset + at, copy, some.n * size);
        }
        uccs_atomic_unlock(lock);
    }
    return status;
}

static int apply_near(struct uccs_context *context, const struct uccs_change *change, const struct uccs_region *memory,
                      size_t offset, const void *operand, void *result)
{
    /* Ranges that touch are mapped alike, so the first one tells of all. */
    struct uccs_attached_piece first = {.near = memory->near ? memory->near + offset : 0,
                                        .mapped = memory->domain == UCCS_DOMAIN_CPU};
    if (lat_unlikely(memory->dynamic) && change->n) {
        int status = uccs_attached_find(memory, offset, 1, &first);
        if (status != UCCS_OK)
            return status;
    }
    if (lat_likely(first.near != 0)) {
        const struct uccs_change_place place = {memory->owner, first.mapped ? UCCS_DOMAIN_CPU : UCCS_DOMAIN_LOCKED,
                                                memory->address + offset, first.near};
        uccs_change_apply(change, &place, operand, result);
        return UCCS_OK;
    }
    if (uccs_kernel_reaches(memory))
        return apply_by_kernel(change, memory, offset, operand, result);
    return uccs_remote_change(context, memory, offset, change, operand, result, 0);
}

static int run(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const struct uccs_change *change,
               const void *operand, void *result, const struct uccs_op *op)
{
    size_t bytes;
    if (lat_unlikely(!endpoint))
        return UCCS_ERR_INVALID;
    if (lat_unlikely(__builtin_mul_overflow(change->n, uccs_type_size((enum uccs_type)change->type), &bytes)))
        return UCCS_ERR_BOUNDS;
    int status = uccs_rma_check(endpoint->context, endpoint, memory, offset, bytes, op);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_change(endpoint->context, memory, offset, change, operand, result, op);
    uccs_rma_before(endpoint->context, op);
    status = apply_near(endpoint->context, change, memory, offset, operand, result);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

int uccs_accumulate(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *operand, void *result,
                    size_t n, enum uccs_type type, enum uccs_reduction how, const struct uccs_op *op)
{
    if (lat_unlikely(!uccs_type_takes(type, how) || (n && !operand && how != UCCS_NO_OP)))
        return UCCS_ERR_INVALID;
    const struct uccs_change change = {(uint8_t)type, (uint8_t)how, n};
    return run(endpoint, memory, offset, &change, operand, result, op);
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
    const struct uccs_change change = {types[size], UCCS_CHANGE_SWAP, 1};
    return run(endpoint, memory, offset, &change, both, result, op);
}

int uccs_accumulate_intrinsic(uccs_endpoint_t endpoint, uccs_memory_t memory, enum uccs_type type,
                              enum uccs_reduction how)
{
    if (!endpoint || !memory || !memory->near || !uccs_type_takes(type, how))
        return 0;
    return uccs_change_atomic(&(struct uccs_change){(uint8_t)type, (uint8_t)how, 1}, memory->domain, 0);
}
