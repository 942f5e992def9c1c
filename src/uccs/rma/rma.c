/* Put and get of uccs.h. A copy within the node that asks for nothing is done here; op.c does everything else. */
#include "uccs/rma/inner.h"

#include <string.h>

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
