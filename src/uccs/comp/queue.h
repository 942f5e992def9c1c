/* What follows an operation: its function (op->complete), its entry in a completion queue (op->queue; ideas: LCI's completion
 * queues, the event queues of libfabric). Their memory is taken before the operation is issued, so its completion cannot
 * fail. A queue holds at most one entry for each operation that is under way or whose entry nobody has taken yet. It lives on after
 * uccs_queue_release until the last operation that names it has completed.
 *
 * Any thread may call these functions, at once too, and each queue has a lock of its own. */
#ifndef UCCS_COMP_QUEUE_H
#define UCCS_COMP_QUEUE_H

#include "uccs/comp/request.h"

#include <uccs.h>

/* Takes up to `room` entries, the oldest first. Returns their number. */
size_t uccs_queue_take(struct uccs_queue *queue, struct uccs_entry *entries, size_t room);

/* Returns a request of the operation's own, with one count, whose end calls op->complete and fills op->queue. Null: no memory. */
struct uccs_request *uccs_ending_make(const struct uccs_op *op);
/* The operation is not issued: nothing follows the request, which the caller ends. */
void uccs_ending_drop(struct uccs_request *request);

/* Returns UCCS_OK, and the request that the operation has to finish once (uccs_request_finish): null when nobody wants
 * to know, the object of op->request, or a request in between that also calls op->complete or fills op->queue. When the
 * operation is not issued after all, uccs_callback_cancel takes its place. Returns UCCS_ERR_NO_MEMORY, with no effect. */
int uccs_callback_begin(const struct uccs_op *op, struct uccs_request **request);
/* Undoes uccs_callback_begin; op->request is `before` again, if it had no object then. */
void uccs_callback_cancel(const struct uccs_op *op, struct uccs_request *request, uccs_request_handle before);

#endif
