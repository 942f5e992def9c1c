/* Put and get of uccs.h. A copy within the node that asks for nothing is done at once. */
#include "uccs/comp/counter.h"
#include "uccs/comp/request.h"
#include "uccs/core/core.h"
#include "uccs/rma/inner.h"

#include <string.h>

/* The way of an operation with options, or of one that is not a plain copy: checks, what follows its completion, and
 * the choice between the node and other nodes. */

static const struct uccs_op no_options;

static int check_signal(const struct uccs_endpoint *endpoint, const struct uccs_signal *signal)
{
    const struct uccs_region *memory = signal->memory;
    if (!memory || memory->owner != endpoint->pe || (unsigned)signal->how > UCCS_SIGNAL_ADD ||
        (memory->address + signal->offset) % sizeof signal->value)
        return UCCS_ERR_INVALID;
    return uccs_region_check(memory, signal->offset, sizeof signal->value);
}

int uccs_rma_check(const struct uccs_endpoint *endpoint, const struct uccs_region *memory, size_t offset, size_t length,
                   const struct uccs_op *op)
{
    if (lat_unlikely(!endpoint || !memory || endpoint->pe != memory->owner))
        return UCCS_ERR_INVALID;
    int status = op && op->signal ? check_signal(endpoint, op->signal) : UCCS_OK;
    if (lat_unlikely(status != UCCS_OK))
        return status;
    if (lat_unlikely(op && op->counter && !uccs_counter_usable(op->counter, endpoint->pe)))
        return UCCS_ERR_STALE;
    return uccs_region_check(memory, offset, length);
}

/* --- Checks of the forms */

/* Checks the range from the lowest to the highest byte that the blocks touch, from the offset. */
static int check_blocks(const struct uccs_rma *rma)
{
    const struct uccs_stride *s = rma->blocks;
    ptrdiff_t way;
    if (s->count == 0 || s->block == 0)
        return uccs_rma_check(rma->endpoint, rma->memory, rma->offset, 0, rma->op);
    if (!rma->local)
        return UCCS_ERR_INVALID;
    if (s->count > PTRDIFF_MAX || __builtin_mul_overflow((ptrdiff_t)(s->count - 1), s->remote_stride, &way))
        return UCCS_ERR_BOUNDS;
    size_t low = way < 0 ? -(size_t)way : 0, high = way > 0 ? (size_t)way : 0;
    if (low > rma->offset || high > SIZE_MAX - s->block || low > SIZE_MAX - s->block - high)
        return UCCS_ERR_BOUNDS;
    if (!rma->memory || !rma->memory->dynamic)
        return uccs_rma_check(rma->endpoint, rma->memory, rma->offset - low, low + high + s->block, rma->op);
    int status = UCCS_OK; /* ranges may have gaps between the blocks */
    for (size_t i = 0; i < s->count && status == UCCS_OK; i++)
        status =
            uccs_rma_check(rma->endpoint, rma->memory, rma->offset + i * (size_t)s->remote_stride, s->block, rma->op);
    return status;
}

/* Checks all pieces before the first one moves. */
static int check_pieces(const struct uccs_rma *rma)
{
    int status = uccs_rma_check(rma->endpoint, rma->memory, 0, 0, rma->op);
    for (size_t i = 0; i < rma->n && status == UCCS_OK; i++) {
        const struct uccs_piece *piece = &rma->pieces[i];
        status = piece->length && !piece->local && !rma->change
                     ? UCCS_ERR_INVALID
                     : uccs_region_check(rma->memory, piece->offset, piece->length);
    }
    return status;
}

static int check_change(const struct uccs_rma *rma)
{
    size_t bytes;
    if (__builtin_mul_overflow(rma->change->n, uccs_accumulate_size(rma->change->type), &bytes))
        return UCCS_ERR_BOUNDS;
    return uccs_rma_check(rma->endpoint, rma->memory, rma->offset, bytes, rma->op);
}

static int check_rma(const struct uccs_rma *rma)
{
    if (rma->blocks)
        return check_blocks(rma);
    if (rma->pieces)
        return check_pieces(rma);
    if (rma->change)
        return check_change(rma);
    if (rma->length && !rma->local)
        return UCCS_ERR_INVALID;
    return uccs_rma_check(rma->endpoint, rma->memory, rma->offset, rma->length, rma->op);
}

/* --- What follows an operation */

/* Makes a request of the operation's own, which the program's request counts as one operation. */
static int prepare_rma(struct uccs_rma *rma)
{
    const struct uccs_op *op = rma->op;
    rma->request = op->request;
    if (lat_likely(!op->complete && !op->queue))
        return UCCS_OK;
    struct uccs_request *parent = op->request ? uccs_request_materialise(op->request) : 0;
    rma->own = parent || !op->request ? uccs_ending_make(op) : 0;
    if (!rma->own)
        return UCCS_ERR_NO_MEMORY;
    uccs_request_follow(rma->own, parent);
    rma->request = &rma->own;
    return UCCS_OK;
}

static void leave_rma(struct uccs_rma *rma, int status)
{
    struct uccs_request *own = uccs_request_object(rma->own);
    if (lat_likely(!own))
        return;
    if (status != UCCS_OK)
        uccs_ending_drop(own);                 /* the call had no effect */
    else if (atomic_load_acquire(&own->dirty)) /* release: uccs_request_stored */
        uccs_quiet();
    uccs_request_free(&rma->own);
}

static int run_checked(struct uccs_rma *rma)
{
    int status = prepare_rma(rma);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    status = uccs_region_far(rma->memory) ? uccs_rma_far(rma) : uccs_rma_near(rma);
    leave_rma(rma, status);
    return status;
}

/* An operation that had no memory has not used the handles that it was given, unless some of its messages have left. */
static void restore_request(uccs_request_t *handle, uccs_request_handle before)
{
    if (!handle || uccs_request_object(before) || !uccs_request_object(*handle) || uccs_request_pending(*handle))
        return;
    uccs_request_free(handle);
    *handle = before;
}

int uccs_rma_run(struct uccs_rma *rma)
{
    const struct uccs_op *op = rma->op = rma->op ? rma->op : &no_options;
    int status = check_rma(rma);
    if (lat_unlikely(status != UCCS_OK))
        return status;
    const uccs_request_handle request = op->request ? *op->request : 0, local = op->local ? *op->local : 0;
    status = run_checked(rma);
    if (lat_unlikely(status == UCCS_ERR_NO_MEMORY || status == UCCS_AGAIN)) {
        restore_request(op->request, request);
        restore_request(op->local, local);
    }
    return status;
}

static inline void copy_plain(void *to, const void *from, size_t length)
{
    if (length == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (length)
        memcpy(to, from, length);
}

/* Returns true in the common case: the memory is mapped and alive, the range is in bounds, and `op` asks for nothing.
 * Calls no function, so that the caller needs no frame. */
static inline bool is_plain(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t length,
                            const struct uccs_op *op)
{
    return lat_likely(endpoint && memory && !op && endpoint->pe == memory->owner && memory->near &&
                      !endpoint->ordered && uccs_region_check(memory, offset, length) == UCCS_OK);
}

static __attribute__((noinline)) int run_move(enum uccs_rma_kind kind, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                              size_t offset, const void *local, size_t length, const struct uccs_op *op)
{
    return uccs_rma_run(&(struct uccs_rma){.kind = kind,
                                           .endpoint = endpoint,
                                           .memory = memory,
                                           .offset = offset,
                                           .local = (char *)local,
                                           .length = length,
                                           .op = op});
}

static int move_blocks(enum uccs_rma_kind kind, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                       const void *local, const struct uccs_stride *stride, const struct uccs_op *op)
{
    if (!stride)
        return UCCS_ERR_INVALID;
    return uccs_rma_run(&(struct uccs_rma){.kind = kind,
                                           .endpoint = endpoint,
                                           .memory = memory,
                                           .offset = offset,
                                           .local = (char *)local,
                                           .blocks = stride,
                                           .op = op});
}

static int move_pieces(enum uccs_rma_kind kind, uccs_endpoint_t endpoint, uccs_memory_t memory,
                       const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    static const struct uccs_piece none;
    if (n && !pieces)
        return UCCS_ERR_INVALID;
    return uccs_rma_run(&(struct uccs_rma){.kind = kind,
                                           .endpoint = endpoint,
                                           .memory = memory,
                                           .pieces = n ? pieces : &none,
                                           .n = n,
                                           .op = op});
}

int uccs_put(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *source, size_t length,
             const struct uccs_op *op)
{
    if (!is_plain(endpoint, memory, offset, length, op) || !source)
        return run_move(RMA_PUT, endpoint, memory, offset, source, length, op);
    copy_plain(memory->near + offset, source, length);
    return UCCS_OK;
}

int uccs_get(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest, size_t length,
             const struct uccs_op *op)
{
    if (!is_plain(endpoint, memory, offset, length, op) || !dest)
        return run_move(RMA_GET, endpoint, memory, offset, dest, length, op);
    copy_plain(dest, memory->near + offset, length);
    return UCCS_OK;
}

int uccs_put_blocks(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, const void *source,
                    const struct uccs_stride *stride, const struct uccs_op *op)
{
    return move_blocks(RMA_PUT, endpoint, memory, offset, source, stride, op);
}

int uccs_get_blocks(uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, void *dest,
                    const struct uccs_stride *stride, const struct uccs_op *op)
{
    return move_blocks(RMA_GET, endpoint, memory, offset, dest, stride, op);
}

int uccs_put_pieces(uccs_endpoint_t endpoint, uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                    const struct uccs_op *op)
{
    return move_pieces(RMA_PUT, endpoint, memory, pieces, n, op);
}

int uccs_get_pieces(uccs_endpoint_t endpoint, uccs_memory_t memory, const struct uccs_piece *pieces, size_t n,
                    const struct uccs_op *op)
{
    return move_pieces(RMA_GET, endpoint, memory, pieces, n, op);
}
