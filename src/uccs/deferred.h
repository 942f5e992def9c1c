/* One-sided operations that a peer of this node executes on request (remote.c) and has not executed yet, counted by
 * context and by lane of the issuing thread. What must come after them waits for them here: fences, flushes, and ordered
 * operations and messages. Any thread. */
#ifndef UCCS_DEFERRED_H
#define UCCS_DEFERRED_H

#include "uccs/context.h"

/* Counts one operation of the calling thread. It is done when *count is one less (acqrel). */
uint32_t *uccs_deferred_begin(const struct uccs_context *context);

/* True when all are done: those of the calling thread's lane, in a context of process scope those of all threads. */
bool uccs_deferred_done(const struct uccs_context *context);

/* Waits until all are done, or those of the calling thread's lane. Serves messages; in a handler the library's own. */
void uccs_deferred_wait(const struct uccs_context *context);
void uccs_deferred_wait_mine(const struct uccs_context *context);

#endif
