/* Completion queues (ideas: LCI's completion queues, the event queues of libfabric). An operation that names a queue
 * takes the memory of its entry when it is issued, so its completion cannot fail. A queue holds at most one entry for
 * each operation that is under way or whose entry nobody has taken yet.
 *
 * Any thread may call these functions, at once too, and each queue has a lock of its own. They run no function of the
 * program. A queue that its owner has released lives on until the last operation that names it has completed. */
#ifndef UCCS_COMP_QUEUE_H
#define UCCS_COMP_QUEUE_H

#include <stddef.h>
#include <uccs.h>

struct uccs_queue_entry;

/* Returns a new queue, or null when there is no memory. */
struct uccs_queue *uccs_queue_make(void);
/* Releases the queue for its owner: drops its entries, and those of operations under way when these complete. */
void uccs_queue_abandon(struct uccs_queue *queue);

/* Takes the memory of an entry for an operation that is about to be issued. Returns null when there is none. */
struct uccs_queue_entry *uccs_queue_expect(struct uccs_queue *queue, void *tag);
/* The operation has completed: the entry can be taken from the queue. Called once. */
void uccs_queue_push(struct uccs_queue_entry *entry, int status);
/* The operation was not issued. */
void uccs_queue_forget(struct uccs_queue_entry *entry);

/* Takes up to `room` entries, the oldest first. Returns their number. */
size_t uccs_queue_take(struct uccs_queue *queue, struct uccs_entry *entries, size_t room);

#endif
