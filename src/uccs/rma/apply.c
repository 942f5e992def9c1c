/* Applies atomics and accumulates to memory of this node, by its domain; mem/atomic.h and mem/accumulate.h define
 * the rules of domains. */
#include "uccs/mem/dynamic.h"
#include "uccs/rma/inner.h"

#include "uccs/core/pe_shared.h"

#include <string.h>

/* Under the lock: reads the word, changes it, and writes it back unless it is as it was. */
static int apply_by_kernel(const struct uccs_atomic_op *a, const struct uccs_region *memory, size_t offset,
                           uint64_t *old)
{
    uint64_t word = 0;
    uint32_t *lock = uccs_atomic_lock(memory->owner, memory->address + offset);
    int status = uccs_cma_get(memory, offset, &word, a->size);
    if (status == UCCS_OK) {
        const uint64_t before = word;
        *old = uccs_atomic_apply(a, &word);
        if (word != before)
            status = uccs_cma_put(memory, offset, &word, a->size);
    }
    uccs_atomic_unlock(lock);
    return status;
}

static int apply_locked(struct uccs_stream *stream, const struct uccs_atomic_op *a, const struct uccs_region *memory,
                        size_t offset, uint64_t *old)
{
    struct uccs_dynamic_piece word = {.near = memory->near ? memory->near + offset : 0};
    int found = memory->dynamic ? uccs_dynamic_find(memory->attached, memory->owner, offset, a->size, &word) : UCCS_OK;
    if (found != UCCS_OK)
        return found;
    if (word.near) {
        *old = word.mapped ? uccs_atomic_apply(a, word.near) : uccs_atomic_apply_locked(a, word.near);
        return UCCS_OK;
    }
    if (uccs_cma_reaches(memory))
        return apply_by_kernel(a, memory, offset, old);
    uint32_t half = 0;
    int status = uccs_remote_atomic(stream, memory, offset, a, a->size == sizeof half ? (void *)&half : old, 0);
    if (a->size == sizeof half)
        *old = half;
    return status;
}

int uccs_rma_apply(struct uccs_stream *stream, const struct uccs_atomic_op *a, const struct uccs_region *memory,
                   size_t offset, uint64_t *old)
{
    if (lat_unlikely(memory->domain != UCCS_DOMAIN_CPU))
        return apply_locked(stream, a, memory, offset, old);
    *old = uccs_atomic_apply(a, memory->near + offset);
    return UCCS_OK;
}

/* Copies elements here, changes the copy and copies it back. One element that is as it was is not written: a swap that has
 * failed costs one copy, and disturbs no store of the owner's. */
static int change_copy(const struct uccs_accumulate_op *change, const struct uccs_region *memory, size_t offset,
                       const void *operand, void *result)
{
    char copy[PE_SHARED_STRIPE_BYTES + UCCS_TYPE_MOST], before[UCCS_TYPE_MOST];
    const size_t bytes = uccs_accumulate_bytes(change), one = change->n == 1 ? bytes : 0;
    int status = uccs_cma_get(memory, offset, copy, bytes);
    if (status != UCCS_OK)
        return status;
    memcpy(before, copy, one);
    uccs_accumulate_plainly(change, copy, operand, result);
    const bool same = change->how == UCCS_NO_OP || (one && memcmp(before, copy, one) == 0);
    return same ? UCCS_OK : uccs_cma_put(memory, offset, copy, bytes);
}

/* Changes the elements stripe by stripe, each under its lock. */
static int change_by_kernel(const struct uccs_accumulate_op *change, const struct uccs_region *memory, size_t offset,
                            const char *operand, char *result)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type);
    struct uccs_accumulate_op some = *change;
    int status = UCCS_OK;
    for (size_t done = 0; done < change->n && status == UCCS_OK; done += some.n) {
        const size_t at = done * size;
        some.n = uccs_accumulate_stripe(memory->address + offset + at, size, change->n - done);
        uint32_t *lock = uccs_atomic_lock(memory->owner, memory->address + offset + at);
        status = change_copy(&some, memory, offset + at, operand ? operand + at : 0, result ? result + at : 0);
        uccs_atomic_unlock(lock);
    }
    return status;
}

/* Changes elements whose bytes follow each other in this process and in the owner. `offset` is that of the first one. */
static int change_piece(struct uccs_stream *stream, const struct uccs_accumulate_op *change,
                        const struct uccs_region *memory, size_t offset, const struct uccs_dynamic_piece *piece,
                        const void *operand, void *result)
{
    if (lat_likely(piece->near != 0)) {
        const struct uccs_accumulate_target place = {memory->owner,
                                                     piece->mapped ? UCCS_DOMAIN_CPU : UCCS_DOMAIN_LOCKED,
                                                     memory->address + offset, piece->near};
        uccs_accumulate_apply(change, &place, operand, result);
        return UCCS_OK;
    }
    if (uccs_cma_reaches(memory))
        return change_by_kernel(change, memory, offset, operand, result);
    return uccs_remote_change(stream, memory, offset, change, operand, result, 0);
}

/* Goes from range to range. UCCS_ERR_BOUNDS for an element that lies across two of which the node maps one. */
static lat_cold int change_dynamic(struct uccs_stream *stream, const struct uccs_accumulate_op *change,
                                   const struct uccs_region *memory, size_t offset, const char *operand, char *result)
{
    const size_t size = uccs_type_size((enum uccs_type)change->type), bytes = change->n * size;
    struct uccs_accumulate_op some = *change;
    struct uccs_dynamic_piece piece;
    int status = UCCS_OK;
    for (size_t done = 0; done < bytes && status == UCCS_OK; done += some.n * size) {
        status = uccs_dynamic_find(memory->attached, memory->owner, offset + done, bytes - done, &piece);
        some.n = status == UCCS_OK ? piece.bytes / size : 0;
        if (!some.n)
            return UCCS_ERR_BOUNDS;
        status = change_piece(stream, &some, memory, offset + done, &piece, operand ? operand + done : 0,
                              result ? result + done : 0);
    }
    return status;
}

int uccs_rma_change(struct uccs_stream *stream, const struct uccs_accumulate_op *change,
                    const struct uccs_region *memory, size_t offset, const void *operand, void *result)
{
    if (lat_unlikely(memory->dynamic))
        return change_dynamic(stream, change, memory, offset, operand, result);
    const struct uccs_dynamic_piece all = {.near = memory->near ? memory->near + offset : 0,
                                           .mapped = memory->domain == UCCS_DOMAIN_CPU};
    return change_piece(stream, change, memory, offset, &all, operand, result);
}
