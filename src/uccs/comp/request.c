#include "uccs/comp/request.h"

#include "uccs/core/core.h"
#include "uccs/core/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void (*uccs_request_discard)(void *request) = free;

struct uccs_request *uccs_request_materialise(uccs_request_handle *handle)
{
    struct uccs_request *object = uccs_request_object(*handle);
    if (object)
        return object;
    object = malloc(sizeof *object);
    if (!object)
        return 0;
    *object = (struct uccs_request){.pending = 1, .sources = 1, .dirty = *handle == UCCS_REQUEST_DIRTY};
    *handle = object;
    return object;
}

static void run_then(struct uccs_callback *callback)
{
    struct uccs_request *request = (struct uccs_request *)((char *)callback - offsetof(struct uccs_request, callback));
    request->then(request->argument, request->error != 0);
    uccs_request_discard(request);
}

static void end_request(struct uccs_request *request)
{
    if (lat_likely(!request->then)) {
        uccs_request_discard(request);
        return;
    }
    request->callback.run = run_then;
    uccs_callback_push(&request->callback);
}

/* Takes one from the request's count. A request whose count reaches zero is freed and takes one from its parent, and so
 * on. */
static void take_operation(struct uccs_request *request, bool error)
{
    while (request) {
        if (error)
            atomic_fetch_add_relaxed(&request->error, 1); /* published by the count */
        if (atomic_fetch_sub_acqrel(&request->pending, 1) != 1)
            return;
        struct uccs_request *parent = request->parent; /* stored before the owner's decrement */
        error = request->error != 0;
        if (parent && request->dirty)
            atomic_store_release(&parent->dirty, 1);
        end_request(request);
        request = parent;
    }
}

/* Takes one from the request's count of local uses, before the caller takes one from `pending`. A count that reaches
 * zero takes one from the parent's, and so on. */
static void take_use(struct uccs_request *request)
{
    while (request && atomic_fetch_sub_acqrel(&request->sources, 1) == 1)
        request = request->parent; /* stored before the owner's decrement */
}

void uccs_request_finish(struct uccs_request *request, bool error)
{
    take_operation(request, error);
}

void uccs_request_finish_use(struct uccs_request *request, bool error)
{
    take_use(request);
    take_operation(request, error);
}

bool uccs_request_done_locally(const uccs_request_handle *handle)
{
    const struct uccs_request *object = uccs_request_object(*handle);
    if (!object || atomic_load_acquire(&object->sources) == 1) /* acqrel: take_use */
        return true;
    (void)uccs_progress_look();
    return atomic_load_acquire(&object->sources) == 1;
}

bool uccs_request_done_slow(uccs_request_handle *handle)
{
    struct uccs_request *object = uccs_request_object(*handle);
    if (!object) {
        if (*handle == UCCS_REQUEST_DIRTY) {
            uccs_quiet();
            *handle = UCCS_REQUEST_CLEAN;
        }
        return true;
    }
    if (atomic_load_acquire(&object->pending) != 1) { /* acqrel: take_operation */
        (void)uccs_progress_look();
        if (atomic_load_acquire(&object->pending) != 1)
            return false;
    }
    /* The exchange takes every mark made so far (release: uccs_request_stored). A tester that loads 0 reads it from
     * another tester's exchange, which acquired the marks; so the marked stores were visible to all by then. */
    if (atomic_load_acquire(&object->dirty) && atomic_exchange_acqrel(&object->dirty, 0))
        uccs_quiet();
    return true;
}

/* Makes an object that has an owner a child, which the parent counts as one operation. Returns false when it is the
 * parent itself or a child already (then the handles hold it twice). The child may be freed by the decrement in take,
 * so the caller adopts all children before it lets the first one go. */
static bool adopt_child(struct uccs_request *parent, struct uccs_request *child)
{
    if (child == parent || child->parent)
        return false;
    uccs_request_begin_use(parent);
    atomic_store_relaxed(&child->parent,
                         parent); /* published by the decrement in take; also read by uccs_request_counts */
    return true;
}

/* Returns the first handle that is an object, or null. */
static uccs_request_handle first_object(size_t n, const uccs_request_handle *handles)
{
    for (size_t i = 0; i < n; i++)
        if (uccs_request_object(handles[i]))
            return handles[i];
    return 0;
}

/* Adds to `into` the mark of a handle without an object. */
static void merge_mark(uccs_request_handle *into, uccs_request_handle handle)
{
    if (handle == UCCS_REQUEST_DIRTY)
        uccs_request_stored(into);
    else if (handle == UCCS_REQUEST_CLEAN)
        uccs_request_loaded(into);
}

/* When `into` has no object, the first object among the handles becomes its object, so merging never allocates. */
void uccs_request_merge(uccs_request_handle *into, size_t n, uccs_request_handle *handles)
{
    uccs_request_handle object = first_object(n, handles), before = *into;
    if (object && !uccs_request_object(before)) {
        *into = object;
        merge_mark(into, before);
    }
    for (size_t i = 0; i < n; i++) {
        struct uccs_request *child = uccs_request_object(handles[i]);
        if (!child)
            merge_mark(into, handles[i]);
        if (&handles[i] != into && (!child || !adopt_child(uccs_request_object(*into), child)))
            handles[i] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct uccs_request *child = &handles[i] != into ? uccs_request_object(handles[i]) : 0;
        if (&handles[i] != into)
            handles[i] = 0;
        take_use(child);
        take_operation(child, false);
    }
}

void uccs_request_free(uccs_request_handle *handle)
{
    struct uccs_request *object = uccs_request_object(*handle);
    *handle = 0;
    take_use(object);
    take_operation(object, false);
}

size_t uccs_request_pending(uccs_request_handle handle)
{
    struct uccs_request *object = uccs_request_object(handle);
    return object ? atomic_load_acquire(&object->pending) - 1 : 0;
}

/* --- What a wait is for */

static bool (*tellers[UCCS_REQUEST_REASONS])(const struct uccs_request *, struct uccs_reason *);

void uccs_request_reason_add(bool (*teller)(const struct uccs_request *request, struct uccs_reason *reason))
{
    for (int i = 0; i < UCCS_REQUEST_REASONS; i++) {
        if (tellers[i] == teller)
            return;
        if (!tellers[i]) {
            tellers[i] = teller;
            return;
        }
    }
}

static bool tellers_know(const struct uccs_request *request, struct uccs_reason *reason)
{
    for (int i = 0; i < UCCS_REQUEST_REASONS && tellers[i]; i++)
        if (tellers[i](request, reason))
            return true;
    return false;
}

static void tell_request(const struct uccs_request *request, struct uccs_reason *reason)
{
    if (uccs_task_reason(request, reason) || tellers_know(request, reason))
        return;
    const uint32_t left = atomic_load_relaxed(&request->pending) - 1;
    snprintf(reason->text, sizeof reason->text, "%" PRIu32 " operation%s", left, left == 1 ? "" : "s");
}

void uccs_reason_handles(const void *what, struct uccs_reason *reason)
{
    const struct uccs_reason_handles *these = what;
    for (size_t i = 0; i < these->n; i++) {
        const struct uccs_request *request = uccs_request_object(these->handles[i]);
        if (request && !(these->left_out && these->left_out[i]) &&
            atomic_load_acquire(&request->pending) != 1) { /* acqrel: uccs_request_finish */
            tell_request(request, reason);
            return;
        }
    }
}

/* What follows one operation; with a queue it is also the entry there. */
struct ending {
    uccs_completion complete; /* may be null */
    void *argument;
    struct uccs_queue *queue; /* may be null */
    struct ending *next;
    struct uccs_entry entry;
};

struct uccs_queue {
    cache_aligned pthread_mutex_t lock;
    struct ending *first, **last;
    size_t users;  /* its owner, and operations under way that name it; under the lock */
    uint32_t some; /* 1: there are entries; written under the lock, read without it: a hint */
};

/* --- Queues */

int uccs_queue_create(uccs_queue_t *queue)
{
    if (!queue)
        return UCCS_ERR_INVALID;
    struct uccs_queue *made = aligned_alloc(CACHE_LINE, sizeof *made);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *made = (struct uccs_queue){.last = &made->first, .users = 1};
    pthread_mutex_init(&made->lock, 0);
    *queue = made;
    return UCCS_OK;
}

static void free_entries(struct ending *entry)
{
    for (struct ending *next; entry; entry = next) {
        next = entry->next;
        free(entry);
    }
}

/* Releases the lock, which the caller holds, and takes one user away. The last one frees the queue. */
static void leave_queue(struct uccs_queue *queue)
{
    bool last = --queue->users == 0;
    pthread_mutex_unlock(&queue->lock);
    if (!last)
        return;
    free_entries(queue->first);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

int uccs_queue_release(uccs_queue_t queue)
{
    if (!queue)
        return UCCS_ERR_INVALID;
    pthread_mutex_lock(&queue->lock);
    leave_queue(queue);
    return UCCS_OK;
}

static void push_entry(struct ending *entry)
{
    struct uccs_queue *queue = entry->queue;
    pthread_mutex_lock(&queue->lock);
    *queue->last = entry;
    queue->last = &entry->next;
    atomic_store_relaxed(&queue->some, 1);
    leave_queue(queue);
}

/* Under the lock. Takes up to `room` entries off the queue; returns them as a list. */
static struct ending *take_entries(struct uccs_queue *queue, struct uccs_entry *entries, size_t room, size_t *count)
{
    struct ending *taken = queue->first, *last = 0, *next = taken;
    for (*count = 0; next && *count < room; next = next->next) {
        entries[(*count)++] = next->entry;
        last = next;
    }
    if (!last)
        return 0;
    last->next = 0;
    queue->first = next;
    if (!next)
        queue->last = &queue->first;
    atomic_store_relaxed(&queue->some, next != 0);
    return taken;
}

size_t uccs_queue_take(struct uccs_queue *queue, struct uccs_entry *entries, size_t room)
{
    size_t count = 0;
    if (!atomic_load_relaxed(&queue->some)) /* a hint: the caller looks again */
        return 0;
    pthread_mutex_lock(&queue->lock);
    struct ending *taken = take_entries(queue, entries, room, &count);
    pthread_mutex_unlock(&queue->lock);
    free_entries(taken);
    return count;
}

/* --- Endings */

/* On a thread in progress. Once the entry is in the queue, another thread may free it. */
static void run_ending(void *argument, bool failed)
{
    struct ending *ending = argument, end = *ending;
    ending->entry.status = failed ? UCCS_ERR_FAILED : UCCS_OK;
    if (end.queue)
        push_entry(ending);
    else
        free(ending);
    if (end.complete)
        end.complete(end.argument, failed ? UCCS_ERR_FAILED : UCCS_OK);
}

struct uccs_request *uccs_ending_make(const struct uccs_op *op)
{
    uccs_request_handle made = UCCS_REQUEST_NULL;
    struct ending *ending = malloc(sizeof *ending);
    if (!ending || !uccs_request_materialise(&made)) {
        free(ending);
        return 0;
    }
    *ending = (struct ending){op->complete, op->argument, op->queue, 0, {.tag = op->tag}};
    if (op->queue) {
        pthread_mutex_lock(&op->queue->lock);
        op->queue->users++;
        pthread_mutex_unlock(&op->queue->lock);
    }
    uccs_request_then(made, run_ending, ending);
    return made;
}

void uccs_ending_drop(struct uccs_request *request)
{
    struct ending *ending = request->argument;
    request->then = 0;
    if (ending->queue) {
        pthread_mutex_lock(&ending->queue->lock);
        leave_queue(ending->queue);
    }
    free(ending);
}

int uccs_callback_begin(const struct uccs_op *op, struct uccs_request **request)
{
    struct uccs_request *between = 0, *own = 0;
    *request = 0;
    if ((op->complete || op->queue) && !(between = uccs_ending_make(op)))
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
    if (!request)
        return;
    if (request->then == run_ending)
        uccs_ending_drop(request);
    uccs_request_finish(request, false);
    if (op->request && uccs_request_object(*op->request) && !uccs_request_object(before)) {
        uccs_request_free(op->request);
        *op->request = before;
    }
}
