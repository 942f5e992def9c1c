/* Functions that the files of this folder share. Any thread. */
#ifndef UCCS_RMA_INNER_H
#define UCCS_RMA_INNER_H

#include "uccs/far/far.h"
#include "uccs/object/apply.h"
#include "uccs/object/region.h"
#include "uccs/rma/rma.h"

/* --- Parts that put, get and the atomics share (rma.c), and the kernel's copy (kernel.c) */

/* UCCS_OK when endpoint, memory and range belong together, and memory and counter are alive. */
int uccs_rma_check(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t length,
                   const struct uccs_op *op);

/* Before an operation that has to come after earlier ones. */
void uccs_rma_before(const struct uccs_context *context, const struct uccs_op *op);
/* Its data is there (or has been read): count it, complete its request. UCCS_ERR_STALE for an old counter. */
int uccs_rma_after(const struct uccs_endpoint *endpoint, const struct uccs_op *op);

/* Shows peers where to try; with the first registration of memory that is not mapped. */
void uccs_kernel_offer(void);
/* The kernel copies between this process and the owner. Looked at once for each owner; LATERAL_CMA=0: no. */
bool uccs_kernel_reaches(const struct uccs_region *memory);

/* The kernel's copy to or from memory that is not mapped here. */
int uccs_kernel_put(const struct uccs_region *memory, size_t offset, const void *source, size_t length);
int uccs_kernel_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length);

/* --- Operations that the target executes (remote.c), for memory that is neither mapped nor open to the kernel's copy (a
 * container that refuses it, another pid namespace). A block of the origin's region carries the call, and the data there
 * and back. In a handler too: a thread that waits here executes the peers' calls meanwhile. The target has to make
 * progress. */

/* Without a request these return when the target has done it. With one, which is an object, they return when the
 * source has been copied, and the request takes part in it. */
int uccs_remote_put(struct uccs_context *context, const struct uccs_region *memory, size_t offset, const void *source,
                    size_t length, struct uccs_request *request);
int uccs_remote_get(struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                    size_t length, struct uccs_request *request);
int uccs_remote_atomic(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                       const struct uccs_atomic_op *atomic, uint64_t *old);

/* --- One-sided operations on memory of other nodes (far.c). rma.c and atomics.c have looked at the arguments, and
 * uccs_region_check at the region's generation. The target executes them, its own processor or progress thread.
 *
 * When a region is released meanwhile, gets and fetching atomics return UCCS_ERR_STALE, and requests of others fail. */

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
/* `old` may be null: then the old value is not fetched. */
int uccs_rma_far_atomic(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const struct uccs_atomic_op *atomic, uint64_t *old, const struct uccs_op *op);

#endif
