/* Callbacks at completion: op->complete of the program, and the entry of op->queue. Their memory is allocated before the operation is
 * issued, so completion cannot fail. Any thread. */
#ifndef UCCS_COMP_CALLBACK_H
#define UCCS_COMP_CALLBACK_H

#include "uccs/comp/request.h"

#include <uccs.h>

/* Returns UCCS_OK, and the request that the operation has to finish once (uccs_request_finish): null when nobody wants
 * to know, the object of op->request, or a request in between that also calls op->complete or fills op->queue. When the
 * operation is not issued after all, uccs_callback_cancel takes its place. Returns UCCS_ERR_NO_MEMORY, with no effect. */
int uccs_callback_begin(const struct uccs_op *op, struct uccs_request **request);
/* Undoes uccs_callback_begin; op->request is `before` again, if it had no object then. */
void uccs_callback_cancel(const struct uccs_op *op, struct uccs_request *request, uccs_request_handle before);

/* The same two for a request of the caller's own, which he has just made: op->complete and op->queue follow its end. follow returns
 * false without memory; drop takes it back before the operation is issued. */
bool uccs_callback_follow(const struct uccs_op *op, struct uccs_request *request);
void uccs_callback_drop(struct uccs_request *request);

#endif
