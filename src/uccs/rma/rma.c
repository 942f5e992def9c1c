/* Put and get of uccs.h; see inner.h. */
#include "uccs/rma/inner.h"

#include "uccs/object/counter.h"
#include "uccs/core/fence.h"
#include "uccs/core/memory.h"
#include "uccs/object/request.h"

#include <string.h>

int uccs_rma_check(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t length,
                   const struct uccs_op *op)
{
    if (lat_unlikely(!context || !endpoint || !memory || endpoint->context != context || endpoint->pe != memory->owner))
        return UCCS_ERR_INVALID;
    if (lat_unlikely(op && op->counter && !uccs_counter_usable(op->counter, endpoint->pe)))
        return UCCS_ERR_STALE;
    return uccs_region_check(memory, offset, length);
}

/* Returns true for an operation that must come after earlier ones. Stores follow stores; a read waits until they are
 * visible. */
static bool is_ordered(const struct uccs_context *context, const struct uccs_op *op)
{
    return context->attr.ordered || (op && op->ordered);
}

void uccs_rma_before(const struct uccs_context *context, const struct uccs_op *op)
{
    if (!is_ordered(context, op))
        return;
    uccs_deferred_wait_mine(context);
    uccs_fence_stores(); /* acquire: the reader that sees the later store */
}

static void before_get(const struct uccs_context *context, const struct uccs_op *op)
{
    if (!is_ordered(context, op))
        return;
    uccs_deferred_wait_mine(context);
    uccs_quiet();
}

int uccs_rma_after(const struct uccs_endpoint *endpoint, const struct uccs_op *op)
{
    if (lat_likely(!op))
        return UCCS_OK;
    if (op->counter && !uccs_counter_arrive(op->counter, op->weight ? op->weight : 1, endpoint->pe))
        uccs_counter_late(op->counter, endpoint->pe); /* shut meanwhile */
    if (op->request)
        uccs_request_stored(op->request);
    return UCCS_OK;
}

static int put_unmapped(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const void *source, size_t length)
{
    if (memory->dynamic)
        return uccs_dynamic_put(context, memory, offset, source, length);
    return uccs_kernel_reaches(memory) ? uccs_kernel_put(memory, offset, source, length)
                                       : uccs_remote_put(context, memory, offset, source, length, 0);
}

static int get_unmapped(struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                        size_t length)
{
    if (memory->dynamic)
        return uccs_dynamic_get(context, memory, offset, dest, length);
    return uccs_kernel_reaches(memory) ? uccs_kernel_get(memory, offset, dest, length)
                                       : uccs_remote_get(context, memory, offset, dest, length, 0);
}

static inline void copy(void *to, const void *from, size_t length)
{
    if (length == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (length)
        memcpy(to, from, length);
}

static inline int put_bytes(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                            const void *source, size_t length)
{
    if (lat_unlikely(!memory->near))
        return put_unmapped(context, memory, offset, source, length);
    copy(memory->near + offset, source, length);
    return UCCS_OK;
}

static inline int get_bytes(struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                            size_t length)
{
    if (lat_unlikely(!memory->near))
        return get_unmapped(context, memory, offset, dest, length);
    copy(dest, memory->near + offset, length);
    return UCCS_OK;
}

/* Returns true in the common case: the memory is mapped and alive, the range is in bounds, and `op` asks for nothing.
 * Calls no function, so that the caller needs no frame. */
static inline bool is_plain(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                            size_t length, const struct uccs_op *op)
{
    return lat_likely(context && endpoint && memory && !op && endpoint->context == context &&
                      endpoint->pe == memory->owner && memory->near && !context->attr.ordered &&
                      uccs_region_check(memory, offset, length) == UCCS_OK);
}

static __attribute__((noinline)) int put_any(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                             size_t offset, const void *source, size_t length, const struct uccs_op *op)
{
    if (lat_unlikely(length && !source))
        return UCCS_ERR_INVALID;
    int status = uccs_rma_check(context, endpoint, memory, offset, length, op);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_put(context, memory, offset, source, length, op);
    uccs_rma_before(context, op);
    status = put_bytes(context, memory, offset, source, length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

static inline int put(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                      const void *source, size_t length, const struct uccs_op *op)
{
    if (!is_plain(context, endpoint, memory, offset, length, op) || !source)
        return put_any(context, endpoint, memory, offset, source, length, op);
    copy(memory->near + offset, source, length);
    return UCCS_OK;
}

static __attribute__((noinline)) int get_any(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                             size_t offset, void *dest, size_t length, const struct uccs_op *op)
{
    if (lat_unlikely(length && !dest))
        return UCCS_ERR_INVALID;
    int status = uccs_rma_check(context, endpoint, memory, offset, length, op);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_get(context, memory, offset, dest, length, op);
    before_get(context, op);
    status = get_bytes(context, memory, offset, dest, length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

static inline int get(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest,
                      size_t length, const struct uccs_op *op)
{
    if (!is_plain(context, endpoint, memory, offset, length, op) || !dest)
        return get_any(context, endpoint, memory, offset, dest, length, op);
    copy(dest, memory->near + offset, length);
    return UCCS_OK;
}

/* Returns true when the operation may outlast the call: the target must execute it, and the context is not ordered. */
static bool is_deferred(const struct uccs_context *context, const struct uccs_region *memory)
{
    return lat_unlikely(!memory->near) && !context->attr.ordered && !uccs_kernel_reaches(memory);
}

/* The public forms differ in the moment from which the source may be reused. On a node it may be reused when any of
 * them returns. */
int uccs_put_short_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              const void *source, size_t length, const struct uccs_op *op)
{
    return length <= UCCS_SHORT_MAX ? put(context, endpoint, memory, offset, source, length, op) : UCCS_ERR_TOO_LARGE;
}

int uccs_put_medium_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                               const void *source, size_t length, const struct uccs_op *op)
{
    return length <= UCCS_MEDIUM_MAX ? put(context, endpoint, memory, offset, source, length, op) : UCCS_ERR_TOO_LARGE;
}

int uccs_put_large_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              const void *source, size_t length, const struct uccs_op *op)
{
    return put(context, endpoint, memory, offset, source, length, op);
}

int uccs_put_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                 const void *source, size_t length, uccs_request_t *desc)
{
    int status = desc ? uccs_rma_check(context, endpoint, memory, offset, length, 0) : UCCS_ERR_INVALID;
    if (status != UCCS_OK || (length && !source))
        return status != UCCS_OK ? status : UCCS_ERR_INVALID;
    if (uccs_region_far(memory))
        return uccs_rma_far_put_nb(context, memory, offset, source, length, desc);
    if (!is_deferred(context, memory))
        return put(context, endpoint, memory, offset, source, length, &(struct uccs_op){.request = desc});
    struct uccs_request *request = uccs_request_materialise(desc);
    return request ? uccs_remote_put(context, memory, offset, source, length, request) : UCCS_ERR_NO_MEMORY;
}

int uccs_get_short_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              void *dest, size_t length, const struct uccs_op *op)
{
    return length <= UCCS_SHORT_MAX ? get(context, endpoint, memory, offset, dest, length, op) : UCCS_ERR_TOO_LARGE;
}

int uccs_get_medium_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                               void *dest, size_t length, const struct uccs_op *op)
{
    return length <= UCCS_MEDIUM_MAX ? get(context, endpoint, memory, offset, dest, length, op) : UCCS_ERR_TOO_LARGE;
}

int uccs_get_large_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                              void *dest, size_t length, const struct uccs_op *op)
{
    return get(context, endpoint, memory, offset, dest, length, op);
}

int uccs_get_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                 void *dest, size_t length, uccs_request_t *desc)
{
    int status = desc ? uccs_rma_check(context, endpoint, memory, offset, length, 0) : UCCS_ERR_INVALID;
    if (status != UCCS_OK || (length && !dest))
        return status != UCCS_OK ? status : UCCS_ERR_INVALID;
    if (uccs_region_far(memory))
        return uccs_rma_far_get_nb(context, memory, offset, dest, length, desc);
    if (!is_deferred(context, memory))
        return get(context, endpoint, memory, offset, dest, length, &(struct uccs_op){.request = desc});
    struct uccs_request *request = uccs_request_materialise(desc);
    return request ? uccs_remote_get(context, memory, offset, dest, length, request) : UCCS_ERR_NO_MEMORY;
}

/* Checks the range from the lowest to the highest byte that the blocks touch, from `offset`. Returns UCCS_OK or an
 * error. */
static int check_stride(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                        const void *local, const struct uccs_stride *s, const struct uccs_op *op)
{
    if (!s || (s->count && s->block && !local))
        return UCCS_ERR_INVALID;
    if (s->count == 0 || s->block == 0)
        return uccs_rma_check(context, endpoint, memory, offset, 0, op);
    ptrdiff_t way;
    if (__builtin_mul_overflow((ptrdiff_t)(s->count - 1), s->remote_stride, &way))
        return UCCS_ERR_BOUNDS;
    size_t low = way < 0 ? (size_t)-way : 0, high = way > 0 ? (size_t)way : 0;
    if (low > offset || high > SIZE_MAX - s->block || low > SIZE_MAX - s->block - high)
        return UCCS_ERR_BOUNDS;
    if (!memory || !memory->dynamic)
        return uccs_rma_check(context, endpoint, memory, offset - low, low + high + s->block, op);
    int status = UCCS_OK; /* there may be gaps between the blocks */
    for (size_t i = 0; i < s->count && status == UCCS_OK; i++)
        status = uccs_rma_check(context, endpoint, memory, offset + i * (size_t)s->remote_stride, s->block, op);
    return status;
}

int uccs_put_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                     const void *source, const struct uccs_stride *s, const struct uccs_op *op)
{
    int status = check_stride(context, endpoint, memory, offset, source, s, op);
    if (status != UCCS_OK)
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_put_strided(context, memory, offset, source, s, op);
    uccs_rma_before(context, op);
    const char *from = source;
    for (size_t i = 0; i < s->count && status == UCCS_OK;
         i++, from += s->local_stride, offset += (size_t)s->remote_stride)
        status = put_bytes(context, memory, offset, from, s->block);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

int uccs_get_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest,
                     const struct uccs_stride *s, const struct uccs_op *op)
{
    int status = check_stride(context, endpoint, memory, offset, dest, s, op);
    if (status != UCCS_OK)
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_get_strided(context, memory, offset, dest, s, op);
    before_get(context, op);
    char *to = dest;
    for (size_t i = 0; i < s->count && status == UCCS_OK;
         i++, to += s->local_stride, offset += (size_t)s->remote_stride)
        status = get_bytes(context, memory, offset, to, s->block);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

/* Checks all pieces before the first one moves. Returns UCCS_OK or an error. */
static int check_pieces(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                        const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    if (n && !pieces)
        return UCCS_ERR_INVALID;
    int status = uccs_rma_check(context, endpoint, memory, 0, 0, op);
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = pieces[i].length && !pieces[i].local ? UCCS_ERR_INVALID
                                                      : uccs_region_check(memory, pieces[i].offset, pieces[i].length);
    return status;
}

int uccs_put_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                    const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    int status = check_pieces(context, endpoint, memory, pieces, n, op);
    if (status != UCCS_OK)
        return status;
    if (uccs_region_far(memory))
        return uccs_rma_far_put_vector(context, memory, pieces, n, op);
    uccs_rma_before(context, op);
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = put_bytes(context, memory, pieces[i].offset, pieces[i].local, pieces[i].length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

int uccs_get_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                    const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    int status = check_pieces(context, endpoint, memory, pieces, n, op);
    if (status == UCCS_OK && uccs_region_far(memory))
        return uccs_rma_far_get_vector(context, memory, pieces, n, op);
    if (status == UCCS_OK)
        before_get(context, op);
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = get_bytes(context, memory, pieces[i].offset, pieces[i].local, pieces[i].length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}
