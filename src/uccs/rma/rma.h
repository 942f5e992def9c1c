/* One-sided operations of uccs.h: the functions that other folders call besides the public ones. The face of this
 * folder. */
#ifndef UCCS_RMA_RMA_H
#define UCCS_RMA_RMA_H

#include "uccs/am/am.h"

/* Handlers in the library's own context: of a step that may bring the turn of waiters of other nodes at a lock of this
 * process, and of operations that the target executes. */
void uccs_lock_left(uccs_am_token_t token, const void *payload, size_t length, void *argument);
void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

#endif
