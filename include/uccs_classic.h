/* The paper's names over the family of uccs.h, which includes this file. "UCCS, a common communication API for multiple
 * parallel programming models" has contexts, resources and endpoints, and for each kind of operation a function by size and
 * blocking: short, medium, large; contiguous, strided, vector; 32 and 64 bits. Each is one call of the family, inline:
 *
 *   the paper's                          is
 *   uccs_endpoint_create                 uccs_stream_endpoint on the context's own stream
 *   uccs_put_{short,medium,large}_...    uccs_put; _nb: with op->request and op->nonblocking. Get alike
 *   uccs_put_strided, uccs_put_vector    uccs_put_blocks, uccs_put_pieces. Get alike
 *   uccs_atomic32, uccs_atomic64         uccs_atomic
 *   uccs_am_{short,medium,large}         uccs_send
 *   uccs_flush, _flush_local, _fence     uccs_stream_flush, _flush_local, _fence on the context's own stream
 *
 * What they add: they name a context, which must be the endpoint's (else UCCS_ERR_INVALID), and short, medium and large forms
 * have a limit (UCCS_ERR_TOO_LARGE). All else, errors, threads and lifetimes included, is as the call of the family says.
 * oshrun --stats names that call. The paper's resources are uccs_resource_query.
 *
 * The library has copies, for programs that were compiled when these were its functions, or that take their address. */
#ifndef UCCS_H
#include <uccs.h>
#endif
#ifndef UCCS_CLASSIC_H
#define UCCS_CLASSIC_H

#ifdef UCCS_CLASSIC_COPIES /* in the library's own source */
#define UCCS_CLASSIC
#define UCCS_CLASSIC_NONE \
    {                     \
        0                 \
    }
#elif defined __cplusplus
#define UCCS_CLASSIC inline __attribute__((always_inline))
#define UCCS_CLASSIC_NONE \
    {                     \
    }
#else
#define UCCS_CLASSIC extern inline __attribute__((gnu_inline, always_inline))
#define UCCS_CLASSIC_NONE \
    {                     \
        0                 \
    }
#endif
/* Every endpoint begins with its context, so this check costs no call. */
#define UCCS_CLASSIC_BELONGS(context, endpoint) \
    ((context) && (endpoint) && *(const uccs_context_t *)(const void *)(endpoint) == (context))
#define UCCS_LARGE_MAX 0x7fffffff /* of a message */

/* An endpoint along the context's own stream. */
UCCS_CLASSIC int uccs_endpoint_create(uccs_context_t context, uccs_group_t group, int rank, uccs_endpoint_t *endpoint)
{
    return uccs_stream_endpoint(uccs_context_stream(context), group, rank, endpoint);
}

/* --- Puts and gets. The program may change the source, or has the data, when the call returns; of an _nb form when `desc`
 * completes. Limits: UCCS_SHORT_MAX, UCCS_MEDIUM_MAX, none. */
UCCS_CLASSIC int uccs_put_short_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                           size_t offset, const void *source, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_SHORT_MAX ? uccs_put(endpoint, memory, offset, source, length, op) : UCCS_ERR_TOO_LARGE;
}

UCCS_CLASSIC int uccs_put_medium_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                            size_t offset, const void *source, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_MEDIUM_MAX ? uccs_put(endpoint, memory, offset, source, length, op) : UCCS_ERR_TOO_LARGE;
}

UCCS_CLASSIC int uccs_put_large_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                           size_t offset, const void *source, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return uccs_put(endpoint, memory, offset, source, length, op);
}

UCCS_CLASSIC int uccs_put_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                              size_t offset, const void *source, size_t length, uccs_request_t *desc)
{
    struct uccs_op op = UCCS_CLASSIC_NONE;
    op.request = desc;
    op.nonblocking = 1;
    return UCCS_CLASSIC_BELONGS(context, endpoint) && desc ? uccs_put(endpoint, memory, offset, source, length, &op)
                                                           : UCCS_ERR_INVALID;
}

UCCS_CLASSIC int uccs_put_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                  const void *source, const struct uccs_stride *stride, const struct uccs_op *op)
{
    return UCCS_CLASSIC_BELONGS(context, endpoint) ? uccs_put_blocks(endpoint, memory, offset, source, stride, op)
                                                   : UCCS_ERR_INVALID;
}

UCCS_CLASSIC int uccs_put_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                 const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    return UCCS_CLASSIC_BELONGS(context, endpoint) ? uccs_put_pieces(endpoint, memory, pieces, n, op)
                                                   : UCCS_ERR_INVALID;
}

UCCS_CLASSIC int uccs_get_short_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                           size_t offset, void *dest, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_SHORT_MAX ? uccs_get(endpoint, memory, offset, dest, length, op) : UCCS_ERR_TOO_LARGE;
}

UCCS_CLASSIC int uccs_get_medium_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                            size_t offset, void *dest, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_MEDIUM_MAX ? uccs_get(endpoint, memory, offset, dest, length, op) : UCCS_ERR_TOO_LARGE;
}

UCCS_CLASSIC int uccs_get_large_contiguous(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                           size_t offset, void *dest, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return uccs_get(endpoint, memory, offset, dest, length, op);
}

UCCS_CLASSIC int uccs_get_large_contiguous_nb(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                              size_t offset, void *dest, size_t length, uccs_request_t *desc)
{
    struct uccs_op op = UCCS_CLASSIC_NONE;
    op.request = desc;
    op.nonblocking = 1;
    return UCCS_CLASSIC_BELONGS(context, endpoint) && desc ? uccs_get(endpoint, memory, offset, dest, length, &op)
                                                           : UCCS_ERR_INVALID;
}

UCCS_CLASSIC int uccs_get_strided(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                                  void *dest, const struct uccs_stride *stride, const struct uccs_op *op)
{
    return UCCS_CLASSIC_BELONGS(context, endpoint) ? uccs_get_blocks(endpoint, memory, offset, dest, stride, op)
                                                   : UCCS_ERR_INVALID;
}

UCCS_CLASSIC int uccs_get_vector(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory,
                                 const struct uccs_piece *pieces, size_t n, const struct uccs_op *op)
{
    return UCCS_CLASSIC_BELONGS(context, endpoint) ? uccs_get_pieces(endpoint, memory, pieces, n, op)
                                                   : UCCS_ERR_INVALID;
}

/* --- Atomics on an aligned word. `result` gets the old value and may be null. */
UCCS_CLASSIC int uccs_atomic32(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                               enum uccs_atomic what, uint32_t operand, uint32_t compare, uint32_t *result,
                               const struct uccs_op *op)
{
    return UCCS_CLASSIC_BELONGS(context, endpoint)
               ? uccs_atomic(endpoint, memory, offset, sizeof operand, what, operand, compare, result, op)
               : UCCS_ERR_INVALID;
}

UCCS_CLASSIC int uccs_atomic64(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset,
                               enum uccs_atomic what, uint64_t operand, uint64_t compare, uint64_t *result,
                               const struct uccs_op *op)
{
    return UCCS_CLASSIC_BELONGS(context, endpoint)
               ? uccs_atomic(endpoint, memory, offset, sizeof operand, what, operand, compare, result, op)
               : UCCS_ERR_INVALID;
}

/* --- Active messages. Limits: UCCS_SHORT_MAX, UCCS_MEDIUM_MAX, UCCS_LARGE_MAX. */
UCCS_CLASSIC int uccs_am_short(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                               const void *payload, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_SHORT_MAX ? uccs_send(endpoint, id, cls, payload, length, op) : UCCS_ERR_TOO_LARGE;
}

UCCS_CLASSIC int uccs_am_medium(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                                const void *payload, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_MEDIUM_MAX ? uccs_send(endpoint, id, cls, payload, length, op) : UCCS_ERR_TOO_LARGE;
}

UCCS_CLASSIC int uccs_am_large(uccs_context_t context, uccs_endpoint_t endpoint, int id, enum uccs_am_class cls,
                               const void *payload, size_t length, const struct uccs_op *op)
{
    if (!UCCS_CLASSIC_BELONGS(context, endpoint))
        return UCCS_ERR_INVALID;
    return length <= UCCS_LARGE_MAX ? uccs_send(endpoint, id, cls, payload, length, op) : UCCS_ERR_TOO_LARGE;
}

/* --- Flush and fence of the context's own stream. */
UCCS_CLASSIC int uccs_flush_local(uccs_context_t context, const uccs_endpoint_t *endpoints, size_t n)
{
    return uccs_stream_flush_local(uccs_context_stream(context), endpoints, n);
}

UCCS_CLASSIC int uccs_flush(uccs_context_t context)
{
    return uccs_stream_flush(uccs_context_stream(context), NULL, 0);
}

UCCS_CLASSIC int uccs_fence(uccs_context_t context)
{
    return uccs_stream_fence(uccs_context_stream(context), NULL, 0);
}

#undef UCCS_CLASSIC_BELONGS
#undef UCCS_CLASSIC_NONE
#undef UCCS_CLASSIC
#endif
