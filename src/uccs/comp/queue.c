#include "uccs/comp/queue.h"

#include "base/atomic.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct uccs_queue_entry {
    struct uccs_queue *queue;
    struct uccs_queue_entry *next;
    struct uccs_entry entry;
};

struct uccs_queue {
    cache_aligned pthread_mutex_t lock;
    struct uccs_queue_entry *first, **last;
    size_t users;  /* its owner, and entries that have been expected and not pushed; under the lock */
    uint32_t some; /* 1: there are entries; written under the lock, read without it: a hint */
};

struct uccs_queue *uccs_queue_make(void)
{
    struct uccs_queue *queue = aligned_alloc(CACHE_LINE, sizeof *queue);
    if (!queue)
        return 0;
    *queue = (struct uccs_queue){.last = &queue->first, .users = 1};
    pthread_mutex_init(&queue->lock, 0);
    return queue;
}

static void free_entries(struct uccs_queue_entry *entry)
{
    for (struct uccs_queue_entry *next; entry; entry = next) {
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

void uccs_queue_abandon(struct uccs_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    leave_queue(queue);
}

struct uccs_queue_entry *uccs_queue_expect(struct uccs_queue *queue, void *tag)
{
    struct uccs_queue_entry *entry = malloc(sizeof *entry);
    if (!entry)
        return 0;
    *entry = (struct uccs_queue_entry){.queue = queue, .entry = {.tag = tag}};
    pthread_mutex_lock(&queue->lock);
    queue->users++;
    pthread_mutex_unlock(&queue->lock);
    return entry;
}

void uccs_queue_push(struct uccs_queue_entry *entry, int status)
{
    struct uccs_queue *queue = entry->queue;
    entry->entry.status = status;
    pthread_mutex_lock(&queue->lock);
    *queue->last = entry;
    queue->last = &entry->next;
    atomic_store_relaxed(&queue->some, 1);
    leave_queue(queue);
}

void uccs_queue_forget(struct uccs_queue_entry *entry)
{
    struct uccs_queue *queue = entry->queue;
    free(entry);
    pthread_mutex_lock(&queue->lock);
    leave_queue(queue);
}

/* Under the lock. Takes up to `room` entries off the queue; returns them as a list. */
static struct uccs_queue_entry *take_entries(struct uccs_queue *queue, struct uccs_entry *entries, size_t room,
                                             size_t *count)
{
    struct uccs_queue_entry *taken = queue->first, *last = 0, *next = taken;
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
    struct uccs_queue_entry *taken = take_entries(queue, entries, room, &count);
    pthread_mutex_unlock(&queue->lock);
    free_entries(taken);
    return count;
}
