/* One-sided operations of uccs.h: the functions that other folders call besides the public ones. The face of this
 * folder. */
#ifndef UCCS_RMA_RMA_H
#define UCCS_RMA_RMA_H

#include "uccs/am/am.h"

/* The handler of operations that the target executes, in the library's own context. */
void uccs_remote_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

#endif
