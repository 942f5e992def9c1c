/* One-sided operations on memory of other nodes: arguments have been looked at by rma.c and atomics.c, and the region's
 * generation by uccs_region_check. The target executes them (far.h), its own processor or progress thread. Any thread.
 *
 * A region that is released meanwhile: gets and fetching atomics return UCCS_ERR_STALE, requests of others fail. */
#ifndef UCCS_RMA_FAR_H
#define UCCS_RMA_FAR_H

#include "uccs/far.h"
#include "uccs/rma.h"

static inline bool uccs_region_far(const struct uccs_region *region)
{
    return lat_unlikely(!region->near) && uccs_far_pe(region->owner);
}

int uccs_rma_far_put(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                     const void *source, size_t length, const struct uccs_op *op);
int uccs_rma_far_put_nb(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const void *source, size_t length, uccs_request_t *desc);
int uccs_rma_far_get(const struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                     size_t length, const struct uccs_op *op);
int uccs_rma_far_get_nb(const struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                        size_t length, uccs_request_t *desc);
int uccs_rma_far_put_strided(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                             const char *source, const struct uccs_stride *stride, const struct uccs_op *op);
int uccs_rma_far_get_strided(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                             char *dest, const struct uccs_stride *stride, const struct uccs_op *op);
int uccs_rma_far_put_vector(const struct uccs_context *context, const struct uccs_region *memory,
                            const struct uccs_piece *pieces, size_t n, const struct uccs_op *op);
int uccs_rma_far_get_vector(const struct uccs_context *context, const struct uccs_region *memory,
                            const struct uccs_piece *pieces, size_t n, const struct uccs_op *op);
/* `old` may be null: then nobody wants it. */
int uccs_rma_far_atomic(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const struct uccs_atomic_op *atomic, uint64_t *old, const struct uccs_op *op);

#endif
