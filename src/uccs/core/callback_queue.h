/* Callbacks that run later, on a thread that holds no lock: the completion functions of programs. A thread that completes an
 * operation, often under a lock, pushes a callback; waits, tests and uccs_progress run it. Any thread may push and run
 * callbacks. */
#ifndef UCCS_CORE_CALLBACK_QUEUE_H
#define UCCS_CORE_CALLBACK_QUEUE_H

#include "base/atomic.h"

struct uccs_callback {
    void (*run)(struct uccs_callback *callback); /* owns the callback from then on */
    struct uccs_callback *next;
};

/* Adds a callback, which the queue owns until it runs. Takes no lock. */
void uccs_callback_push(struct uccs_callback *callback);

extern struct uccs_callback *uccs_callback_queue; /* the last one first; null: none; acqrel */

int uccs_callbacks_run_slow(void);

/* Runs the callbacks in the order in which they were pushed. Does nothing inside a callback of this thread. Returns how many
 * it has run. */
static inline int uccs_callbacks_run(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_callback_queue) != 0) ? uccs_callbacks_run_slow() : 0;
}

#endif
