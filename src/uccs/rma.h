/* One-sided operations of the public interface: what put, get and the atomics share. Any thread. */
#ifndef UCCS_RMA_H
#define UCCS_RMA_H

#include "uccs/context.h"
#include "uccs/object/region.h"
#include "uccs/remote.h"

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

#endif
