/* Requests tell whether operations have completed. A request counts the operations still pending (Boehm et al. 2016), so that a test of any number of merged requests costs one load.
 *
 * A handle is one of
 *   null                   no request; the first operation creates one
 *   UCCS_REQUEST_CLEAN     all operations are complete; no object exists
 *   UCCS_REQUEST_DIRTY     all stores to the node's memory are issued but not yet fenced; no object exists
 *   an object              the caller made it on purpose (threads share it), or an operation is pending
 *
 * An operation on a node peer is complete once its stores are visible, so the first test makes one fence and sets the
 * handle to CLEAN. So a put with a request is a put and a store to the handle.
 *
 * Invariants of an object: `pending` is the number of operations under way, plus one for its owner. A merged or freed
 * object has no owner, and the thread that takes the count to zero settles it (takes one from the parent, frees it).
 * `parent` is set once, before the owner's one is dropped (release); the thread that takes the count to zero reads it
 * (acquire).
 *
 * Local completion is earlier: `sources` is the number of operations under way whose local memory is still in use (a put's
 * source, a get's destination), plus one for the owner. It is linked to the parent's as `pending` is, and an operation
 * takes its one from `sources` before it takes its one from `pending`.
 *
 * Any number of threads may use one object. For one handle variable the usual rules for variables hold. */
#ifndef UCCS_COMP_REQUEST_H
#define UCCS_COMP_REQUEST_H

#include "base/atomic.h"
#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <uccs.h>

struct uccs_request {
    uint32_t pending; /* operations, + 1 while owned; acqrel */
    uint32_t dirty;   /* 1: node stores since the last fence; issuers store it (release), testers load it (acquire) */
    uint32_t error;   /* operations that failed */
    uint32_t sources; /* operations that use local memory, + 1 while owned; acqrel */
    struct uccs_request *parent;
    void (*then)(void *argument, bool failed); /* null: nothing follows; set before the owner's one is dropped */
    void *argument;
    struct uccs_callback callback; /* calls `then` */
};

typedef struct uccs_request *uccs_request_handle;

/* Tag values that are never valid pointers. */
#define UCCS_REQUEST_CLEAN ((uccs_request_handle)1)
#define UCCS_REQUEST_DIRTY ((uccs_request_handle)3)

static lat_hot struct uccs_request *uccs_request_object(uccs_request_handle handle)
{
    return (uintptr_t)handle > (uintptr_t)UCCS_REQUEST_DIRTY ? handle : 0;
}

/* An operation issued with this handle calls _stored or _loaded when it has done its stores or loads on the node. */
static lat_hot void uccs_request_stored(uccs_request_handle *handle)
{
    struct uccs_request *object = uccs_request_object(*handle);
    if (lat_unlikely(object != 0))
        atomic_store_release(&object->dirty, 1); /* acquire: uccs_request_done, by any thread */
    else
        *handle = UCCS_REQUEST_DIRTY;
}

static lat_hot void uccs_request_loaded(uccs_request_handle *handle)
{
    if (lat_likely(!uccs_request_object(*handle)))
        *handle = (uccs_request_handle)((uintptr_t)*handle | (uintptr_t)UCCS_REQUEST_CLEAN);
}

/* Gives an object's memory back: free, unless a checker keeps it (set before the first request, constant then). */
extern void (*uccs_request_discard)(void *request);

/* Returns the handle's object. Makes one if needed, with the meaning that the handle had. Returns null when memory is
 * exhausted. */
struct uccs_request *uccs_request_materialise(uccs_request_handle *handle);

static inline void uccs_request_begin(struct uccs_request *request)
{
    atomic_fetch_add_relaxed(&request->pending, 1); /* the publication of the operation orders it */
}

/* Notes that one operation has completed; `error`: it failed. The request may be freed on return. */
void uccs_request_finish(struct uccs_request *request, bool error);

/* Begins and finishes an operation that uses local memory until it completes. */
static inline void uccs_request_begin_use(struct uccs_request *request)
{
    atomic_fetch_add_relaxed(&request->sources, 1); /* the publication of the operation orders it */
    uccs_request_begin(request);
}
void uccs_request_finish_use(struct uccs_request *request, bool error);

/* Returns true when no operation issued with the handle uses local memory any more. Makes progress. */
bool uccs_request_done_locally(const uccs_request_handle *handle);

/* Lets `then` follow the request: once its owner has let it go and its last operation has completed, a thread in progress
 * calls `then` once, holding no lock. One function for each request; the owner calls this before it lets go. */
static inline void uccs_request_then(struct uccs_request *request, void (*then)(void *argument, bool failed),
                                     void *argument)
{
    request->then = then;
    request->argument = argument;
}

/* Makes the parent (null: none) count the request as one operation. The request's owner calls this once, before it lets
 * go. */
static inline void uccs_request_follow(struct uccs_request *request, struct uccs_request *parent)
{
    if (parent)
        uccs_request_begin_use(parent); /* the request takes one from both counts when it ends */
    atomic_store_relaxed(&request->parent,
                         parent); /* published by the owner's decrement; also read by uccs_request_counts */
}

/* True when the request counts the other one, itself or through those that it was merged from. The other one is not
 * complete. */
static inline bool uccs_request_counts(const struct uccs_request *request, const struct uccs_request *other)
{
    while (other && other != request)
        other = atomic_load_relaxed(&other->parent); /* a hint: set once, while the child is owned */
    return other;
}

bool uccs_request_done_slow(uccs_request_handle *handle);

/* Returns true when every operation issued with the handle is complete and visible everywhere. Makes progress. */
static inline bool uccs_request_done(uccs_request_handle *handle)
{
    return lat_likely(*handle == UCCS_REQUEST_CLEAN) || uccs_request_done_slow(handle);
}

/* Adds to `into` the operations of all `handles`, which become null. */
void uccs_request_merge(uccs_request_handle *into, size_t n, uccs_request_handle *handles);

/* Lets go of the request and makes the handle null. Pending operations continue. */
void uccs_request_free(uccs_request_handle *handle);

/* Returns the number of operations that are not yet complete. */
size_t uccs_request_pending(uccs_request_handle handle);

/* --- What a wait for requests is for, for those who ask why the job hangs */

struct uccs_reason_handles {
    const uccs_request_handle *handles;
    size_t n;
    const int *left_out; /* not 0: this one is not waited for; null: all are */
};

/* Tells of the first handle that is not complete: `what` is a struct uccs_reason_handles. For uccs_reason_function. */
void uccs_reason_handles(const void *what, struct uccs_reason *reason);

/* Upper folders know operations that requests count. Such a function fills in what an operation of the request waits
 * for, or returns false when it knows none; it must not wait. Added once, at the start of a life. */
enum { UCCS_REQUEST_REASONS = 3 };
void uccs_request_reason_add(bool (*teller)(const struct uccs_request *request, struct uccs_reason *reason));

/* What follows an operation: its function (op->complete), its entry in a completion queue (op->queue; ideas: LCI's completion
 * queues, the event queues of libfabric). Their memory is taken before the operation is issued, so its completion cannot
 * fail. A queue holds at most one entry for each operation that is under way or whose entry nobody has taken yet. It lives on after
 * uccs_queue_release until the last operation that names it has completed.
 *
 * Any thread may call these functions, at once too, and each queue has a lock of its own. */

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
