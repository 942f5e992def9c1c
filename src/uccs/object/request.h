/* Requests: have my operations completed? A count of operations still pending (design §1; seeds 000,
 * 002), so that merging any number of them costs a test one load.
 *
 * A handle is one of
 *   null                   no request: the first operation creates one
 *   UCCS_REQUEST_CLEAN     all complete, nothing to remember: no object exists
 *   UCCS_REQUEST_DIRTY     all stores issued to the node's memory, not yet fenced: no object either
 *   an object              made on purpose (shared among threads), or holding something pending
 * because an operation on a node peer is complete once its stores are visible: one fence at the first
 * test, then CLEAN. So a put with a request is a put and a store to the handle.
 *
 * Invariants of an object: `pending` is the operations under way plus one for its owner; a merged or
 * freed object has no owner, and whoever takes the count to zero settles it (takes one from the
 * parent, frees it). `parent` is set once, before the owner's one is dropped (release), and read by the one
 * who takes it to zero (acquire).
 *
 * Threads: on one object any number; on one handle variable the caller's rules for variables. */
#ifndef UCCS_OBJECT_REQUEST_H
#define UCCS_OBJECT_REQUEST_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

struct uccs_request {
    uint32_t pending; /* operations + 1 while owned; acqrel */
    uint32_t dirty;   /* node stores since the last fence; release by issuers, acquire by testers */
    uint32_t error;   /* operations that failed */
    struct uccs_request *parent;
};

typedef struct uccs_request *uccs_request_handle;

/* Tag values that are never valid pointers. */
#define UCCS_REQUEST_CLEAN ((uccs_request_handle)1)
#define UCCS_REQUEST_DIRTY ((uccs_request_handle)3)

static lat_hot struct uccs_request *uccs_request_object(uccs_request_handle handle)
{
    return (uintptr_t)handle > (uintptr_t)UCCS_REQUEST_DIRTY ? handle : 0;
}

/* An operation issued with this handle has done its stores (or loads) on the node. */
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

/* An object for the handle, keeping what it stands for; null when memory is exhausted. */
struct uccs_request *uccs_request_materialise(uccs_request_handle *handle);

static inline void uccs_request_begin(struct uccs_request *request)
{
    atomic_fetch_add_relaxed(&request->pending, 1); /* ordered by whatever publishes the operation */
}

/* One operation has completed; error when it failed. The request may be gone afterwards. */
void uccs_request_finish(struct uccs_request *request, bool error);

bool uccs_request_done_slow(uccs_request_handle *handle);

/* True when everything issued with the handle is complete, everywhere visible. Makes progress. */
static inline bool uccs_request_done(uccs_request_handle *handle)
{
    return lat_likely(*handle == UCCS_REQUEST_CLEAN) || uccs_request_done_slow(handle);
}

/* `into` stands for what it stood for and for all of `handles`, which become null. */
void uccs_request_merge(uccs_request_handle *into, size_t n, uccs_request_handle *handles);

/* Lets go of the request; what is pending goes on. The handle becomes null. */
void uccs_request_free(uccs_request_handle *handle);

/* Operations not yet complete. */
size_t uccs_request_pending(uccs_request_handle handle);

#endif
