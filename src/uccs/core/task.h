/* Tasks: operations that this process must help along until they are finished, such as split-phase collectives. Threads that
 * wait or test advance them, and so does the progress thread. Any thread may call every function here. */
#ifndef UCCS_CORE_TASK_H
#define UCCS_CORE_TASK_H

#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <stdbool.h>

struct uccs_request; /* comp/request.h */

/* `advance` runs on one thread at a time, under the list's lock, and must not wait. It returns true when the task is finished,
 * and is not called again. For what takes long, such as copying, `advance` stores a function in `step`: the same thread
 * calls that function once, without the lock, so that other tasks go on meanwhile, and then calls `advance` again. */
struct uccs_task {
    bool (*advance)(struct uccs_task *task);
    void (*step)(struct uccs_task *task); /* null: no step is due */
    bool again; /* `advance` sets it when no other process will tell that it can go on; then it is soon called again */
    bool busy;  /* a thread runs its step; under the list's lock */
    /* Fills in what the task waits for. Returns false when the request does not count it. Under the list's lock; may be null. */
    bool (*reason)(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason);
    struct uccs_task *next;
};

/* Adds a task. With a progress thread, which sleeps until peers ring, it also advances the tasks once, but runs no step. The task
 * may be finished and gone on return. */
void uccs_task_add(struct uccs_task *task);

/* Advances the tasks and runs their steps, for the progress thread, which waits for another thread. Each look of a wait does so, too
 * (uccs_progress_look), unless another thread does. */
enum uccs_served uccs_tasks_serve(void);

/* Returns a number that grows while threads of the program advance tasks. */
uint64_t uccs_tasks_polls(void);

/* Lets the first task that the request counts fill in what it waits for. Returns false when there is none, or another
 * thread has the list. */
bool uccs_task_reason(const struct uccs_request *request, struct uccs_reason *reason);

#endif
