#include "uccs/rma.h"

#include "uccs/counter.h"
#include "uccs/flush.h"
#include "uccs/memory.h"
#include "uccs/request.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

int uccs_rma_check(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                   size_t length)
{
    if (lat_unlikely(!context || !endpoint || !memory || endpoint->context != context || endpoint->pe != memory->owner))
        return UCCS_ERR_INVALID;
    return uccs_region_check(memory, offset, length);
}

void uccs_rma_before(const struct uccs_context *context, const struct uccs_op *op)
{
    if (context->attr.ordered || (op && op->ordered))
        uccs_fence_stores(); /* acquire: whoever sees the later store */
}

int uccs_rma_after(const struct uccs_endpoint *endpoint, const struct uccs_op *op)
{
    if (!op)
        return UCCS_OK;
    int status = UCCS_OK;
    if (op->counter && !uccs_counter_arrive(op->counter, op->weight ? op->weight : 1, endpoint->pe)) {
        uccs_counter_late(op->counter, endpoint->pe);
        status = UCCS_ERR_STALE;
    }
    if (op->request)
        uccs_request_stored(op->request);
    return status;
}

/* The kernel copies at most as much as it likes at a time. */
static int kernel_copy(const struct uccs_region *memory, size_t offset, char *local, size_t length, bool put)
{
    while (length) {
        struct iovec here = {local, length}, there = {(void *)(uintptr_t)(memory->address + offset), length};
        ssize_t moved = put ? process_vm_writev(memory->pid, &here, 1, &there, 1, 0)
                            : process_vm_readv(memory->pid, &here, 1, &there, 1, 0);
        if (moved <= 0)
            return errno == EFAULT ? UCCS_ERR_BOUNDS : UCCS_ERR_UNREACHABLE;
        local += moved;
        offset += (size_t)moved;
        length -= (size_t)moved;
    }
    return UCCS_OK;
}

int uccs_kernel_put(const struct uccs_region *memory, size_t offset, const void *source, size_t length)
{
    return kernel_copy(memory, offset, (char *)source, length, true);
}

int uccs_kernel_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length)
{
    return kernel_copy(memory, offset, dest, length, false);
}

static int put_bytes(const struct uccs_region *memory, size_t offset, const void *source, size_t length)
{
    if (lat_unlikely(!memory->near))
        return uccs_kernel_put(memory, offset, source, length);
    if (length == sizeof(uint64_t))
        memcpy(memory->near + offset, source, sizeof(uint64_t));
    else
        memcpy(memory->near + offset, source, length);
    return UCCS_OK;
}

static int get_bytes(const struct uccs_region *memory, size_t offset, void *dest, size_t length)
{
    if (lat_unlikely(!memory->near))
        return uccs_kernel_get(memory, offset, dest, length);
    memcpy(dest, memory->near + offset, length);
    return UCCS_OK;
}

static int put(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
               const void *source, size_t length, const struct uccs_op *op)
{
    int status = uccs_rma_check(context, endpoint, memory, offset, length);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    uccs_rma_before(context, op);
    status = put_bytes(memory, offset, source, length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

static int get(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest,
               size_t length, const struct uccs_op *op)
{
    int status = uccs_rma_check(context, endpoint, memory, offset, length);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    status = get_bytes(memory, offset, dest, length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

/* The public forms differ in what they promise of the source, and on a node all promises hold at once. */
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

int uccs_put_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                 size_t offset, const void *source, size_t length, uccs_request_t *desc)
{
    return put(context, endpoint, memory, offset, source, length, &(struct uccs_op){.request = desc});
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

int uccs_get_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                 size_t offset, void *dest, size_t length, uccs_request_t *desc)
{
    return get(context, endpoint, memory, offset, dest, length, &(struct uccs_op){.request = desc});
}

/* The range from the lowest to the highest byte that the blocks touch, from `offset`. */
static int check_stride(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                        const struct uccs_stride *s)
{
    if (!s)
        return UCCS_ERR_INVALID;
    if (s->count == 0 || s->block == 0)
        return uccs_rma_check(context, endpoint, memory, offset, 0);
    ptrdiff_t way;
    if (__builtin_mul_overflow((ptrdiff_t)(s->count - 1), s->remote_stride, &way))
        return UCCS_ERR_BOUNDS;
    size_t low = way < 0 ? (size_t)-way : 0, high = way > 0 ? (size_t)way : 0;
    if (low > offset || high > SIZE_MAX - s->block)
        return UCCS_ERR_BOUNDS;
    return uccs_rma_check(context, endpoint, memory, offset - low, low + high + s->block);
}

int uccs_put_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                     const void *source, const struct uccs_stride *s, const struct uccs_op *op)
{
    int status = check_stride(context, endpoint, memory, offset, s);
    if (status != UCCS_OK)
        return status;
    uccs_rma_before(context, op);
    const char *from = source;
    for (size_t i = 0; i < s->count && status == UCCS_OK; i++, from += s->local_stride, offset += (size_t)s->remote_stride)
        status = put_bytes(memory, offset, from, s->block);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

int uccs_get_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                     void *dest, const struct uccs_stride *s, const struct uccs_op *op)
{
    int status = check_stride(context, endpoint, memory, offset, s);
    if (status != UCCS_OK)
        return status;
    char *to = dest;
    for (size_t i = 0; i < s->count && status == UCCS_OK; i++, to += s->local_stride, offset += (size_t)s->remote_stride)
        status = get_bytes(memory, offset, to, s->block);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

/* All pieces are looked at before the first one moves. */
static int check_pieces(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                        const struct uccs_piece *pieces, size_t n)
{
    if (n && !pieces)
        return UCCS_ERR_INVALID;
    int status = uccs_rma_check(context, endpoint, memory, 0, 0);
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = uccs_rma_check(context, endpoint, memory, pieces[i].offset, pieces[i].length);
    return status;
}

int uccs_put_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                    const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    int status = check_pieces(context, endpoint, memory, pieces, n);
    if (status != UCCS_OK)
        return status;
    uccs_rma_before(context, op);
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = put_bytes(memory, pieces[i].offset, pieces[i].local, pieces[i].length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}

int uccs_get_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                    const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    int status = check_pieces(context, endpoint, memory, pieces, n);
    for (size_t i = 0; i < n && status == UCCS_OK; i++)
        status = get_bytes(memory, pieces[i].offset, pieces[i].local, pieces[i].length);
    return status == UCCS_OK ? uccs_rma_after(endpoint, op) : status;
}
