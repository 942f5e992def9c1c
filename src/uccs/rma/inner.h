/* Functions that the files of this folder share. Any thread. */
#ifndef UCCS_RMA_INNER_H
#define UCCS_RMA_INNER_H

#include "uccs/far/far.h"
#include "uccs/object/accumulate.h"
#include "uccs/object/region.h"
#include "uccs/rma/rma.h"

/* --- Parts that put, get and the atomics share (rma.c), and the kernel's copy (kernel.c) */

/* Returns UCCS_OK when endpoint, memory and range belong together, and memory and counter are alive; else an error. */
int uccs_rma_check(uccs_context_t context, uccs_endpoint_t endpoint, uccs_memory_t memory, size_t offset, size_t length,
                   const struct uccs_op *op);

/* Call it before each operation: keeps an ordered operation behind earlier ones. */
void uccs_rma_before(const struct uccs_context *context, const struct uccs_op *op);
/* Counts an operation whose data has been written (or read), and completes its request. Returns UCCS_OK, also when the
 * counter was shut meanwhile: uccs_counter_late then counts an error. */
int uccs_rma_after(const struct uccs_endpoint *endpoint, const struct uccs_op *op);

/* Publishes the word by which peers try the kernel's copy. Called at the first registration of memory that is not
 * mapped. */
void uccs_kernel_offer(void);
/* Returns true when the kernel copies between this process and the owner. Tried once for each owner; false with
 * LATERAL_CMA=0. */
bool uccs_kernel_reaches(const struct uccs_region *memory);

/* Copies by the kernel to or from memory that is not mapped here. Return UCCS_OK; UCCS_ERR_BOUNDS when the range is not
 * there; UCCS_ERR_UNREACHABLE when the kernel refuses. */
int uccs_kernel_put(const struct uccs_region *memory, size_t offset, const void *source, size_t length);
int uccs_kernel_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length);

/* --- Dynamic memory of this node (dynamic.c). The caller has checked that ranges cover the bytes. Atomics use
 * uccs_attached_find. */

int uccs_dynamic_put(struct uccs_context *context, const struct uccs_region *memory, size_t offset, const char *source,
                     size_t length);
int uccs_dynamic_get(struct uccs_context *context, const struct uccs_region *memory, size_t offset, char *dest,
                     size_t length);

/* --- Operations that the target executes (remote.c). They reach memory that is neither mapped nor open to the kernel's
 * copy (a container refuses it, or the PE is in another pid namespace). A block of the origin's region carries the
 * call, and the data in both directions. Handlers may use them: a thread that waits here executes the peers' calls
 * meanwhile. The target has to make progress. */

/* Without a request these return when the target has executed the operation. With a request, which is an object, they
 * return when the source has been copied, and the operation belongs to the request. */
int uccs_remote_put(struct uccs_context *context, const struct uccs_region *memory, size_t offset, const void *source,
                    size_t length, struct uccs_request *request);
int uccs_remote_get(struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                    size_t length, struct uccs_request *request);
int uccs_remote_atomic(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                       const struct uccs_atomic_op *atomic, uint64_t *old);
/* With a request, `result` holds the old values when the request completes. */
int uccs_remote_change(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                       const struct uccs_change *change, const void *operand, void *result,
                       struct uccs_request *request);

/* --- One-sided operations on memory of other nodes (nodes.c). rma.c and atomics.c have checked the arguments, and
 * uccs_region_check the region's generation. The target's own processor or progress thread executes them.
 *
 * When a region is released meanwhile, gets and fetching atomics return UCCS_ERR_STALE, and requests of other
 * operations fail. */

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
/* When `old` is null, the old value is not fetched. */
int uccs_rma_far_atomic(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const struct uccs_atomic_op *atomic, uint64_t *old, const struct uccs_op *op);
int uccs_rma_far_change(const struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                        const struct uccs_change *change, const void *operand, void *result, const struct uccs_op *op);

#endif
