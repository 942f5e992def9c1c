/* Work: split-phase collectives and other operations that this process must help along until they are finished. Threads
 * that wait or test advance it, and so does the progress thread. Any thread. */
#ifndef UCCS_CORE_TASK_H
#define UCCS_CORE_TASK_H

#include "uccs/core/progress.h"
#include "uccs/core/wait_record.h"

#include <stdbool.h>

struct uccs_request; /* comp/request.h */

/* A piece of task. `advance` runs on one thread at a time, under the list's lock, and must not wait. It returns true when
 * the work is finished, and is not called again. For long steps, such as copying, `advance` stores a function in `step`:
 * the same thread calls that function once, without the lock, so that other work goes on meanwhile, and then calls
 * `advance` again. */
struct uccs_task {
    bool (*advance)(struct uccs_task *task);
    void (*step)(struct uccs_task *task); /* null: no step is due */
    bool again; /* `advance` sets it when no other process will tell that it can go on; then it is soon called again */
    bool busy;  /* a thread runs its step; under the list's lock */
    /* Fills in what the work waits for. Returns false when the request does not count it. Under the list's lock; may be
     * null. */
    bool (*reason)(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason);
    struct uccs_task *next;
};

/* Adds a piece of task. With a progress thread, which sleeps until others post, it also advances the work once, but runs
 * no step. The piece may be finished and gone on return. */
void uccs_task_add(struct uccs_task *task);

/* Advances the work; leaves it alone when another thread advances it. */
void uccs_tasks_advance(void);

/* The progress thread advances the work by uccs_tasks_serve. uccs_tasks_polls grows while threads of the program advance
 * it. */
enum uccs_served uccs_tasks_serve(void);
uint64_t uccs_tasks_polls(void);

/* Lets the first piece of work that the request counts fill in what it waits for. Returns false when there is none, or
 * another thread has the list. */
bool uccs_task_reason(const struct uccs_request *request, struct uccs_reason *reason);

#endif
