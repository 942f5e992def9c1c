/* Operations that the target executes, for memory that is neither mapped nor open to the kernel's copy (a container
 * that refuses it, another pid namespace): a block of the origin's region carries the call, and the data there
 * and back. Any thread, in a handler too: whoever waits here executes the peers' calls meanwhile. The target has to make
 * progress. */
#ifndef UCCS_REMOTE_H
#define UCCS_REMOTE_H

#include "uccs/context.h"
#include "uccs/object/atomic.h"
#include "uccs/object/region.h"

/* Without a request these return when the target has done it. With one, which is an object, they return when the
 * source has been copied, and the request takes part in it. */
int uccs_remote_put(struct uccs_context *context, const struct uccs_region *memory, size_t offset, const void *source,
                    size_t length, struct uccs_request *request);
int uccs_remote_get(struct uccs_context *context, const struct uccs_region *memory, size_t offset, void *dest,
                    size_t length, struct uccs_request *request);
int uccs_remote_atomic(struct uccs_context *context, const struct uccs_region *memory, size_t offset,
                       const struct uccs_atomic_op *atomic, uint64_t *old);

/* The handler of the inner context. */
void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

#endif
