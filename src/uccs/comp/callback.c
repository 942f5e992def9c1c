#include "uccs/comp/callback.h"

#include "uccs/comp/queue.h"

#include <stdlib.h>

struct ending {
    uccs_completion complete;
    void *argument;
    struct uccs_queue_entry *entry;
};

/* On a thread in progress. */
static void ended(void *argument, bool failed)
{
    struct ending *ending = argument;
    int status = failed ? UCCS_ERR_FAILED : UCCS_OK;
    if (ending->entry)
        uccs_queue_push(ending->entry, status);
    if (ending->complete)
        ending->complete(ending->argument, status);
    free(ending);
}

bool uccs_callback_follow(const struct uccs_op *op, struct uccs_request *request)
{
    struct ending *ending = malloc(sizeof *ending);
    if (!ending)
        return false;
    *ending = (struct ending){.complete = op->complete, .argument = op->argument};
    if (op->queue && !(ending->entry = uccs_queue_expect(op->queue, op->tag))) {
        free(ending);
        return false;
    }
    uccs_request_then(request, ended, ending);
    return true;
}

void uccs_callback_drop(struct uccs_request *request)
{
    struct ending *ending = request->argument;
    if (ending->entry)
        uccs_queue_forget(ending->entry);
    free(ending);
    request->then = 0;
}

/* Returns a request that nobody owns: the operation holds its one count. Null: no memory. */
static struct uccs_request *make_between(const struct uccs_op *op)
{
    uccs_request_handle handle = UCCS_REQUEST_NULL;
    struct uccs_request *between = uccs_request_materialise(&handle);
    if (between && uccs_callback_follow(op, between))
        return between;
    uccs_request_free(&handle);
    return 0;
}

int uccs_callback_begin(const struct uccs_op *op, struct uccs_request **request)
{
    struct uccs_request *between = 0, *own = 0;
    *request = 0;
    if ((op->complete || op->queue) && !(between = make_between(op)))
        return UCCS_ERR_NO_MEMORY;
    if (op->request && !(own = uccs_request_materialise(op->request))) {
        uccs_callback_cancel(op, between, UCCS_REQUEST_NULL);
        return UCCS_ERR_NO_MEMORY;
    }
    if (own)
        uccs_request_begin(own);
    if (between)
        between->parent = own;
    *request = between ? between : own;
    return UCCS_OK;
}

void uccs_callback_cancel(const struct uccs_op *op, struct uccs_request *request, uccs_request_handle before)
{
    if (request && request->then == ended) {
        struct uccs_request *own = request->parent;
        uccs_callback_drop(request);
        free(request);
        request = own;
    }
    if (request)
        uccs_request_finish(request, false);
    if (request && !uccs_request_object(before)) {
        uccs_request_free(op->request);
        *op->request = before;
    }
}
