#include "uccs/comp/queue.h"

#include <pthread.h>
#include <stdlib.h>

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
