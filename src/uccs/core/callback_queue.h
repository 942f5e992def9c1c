/* Errands are functions that a thread in progress shall call, holding no lock: the completion functions of programs.
 * A thread that completes an operation, often under the lock of a lane, leaves an callback; waits, tests and progress run
 * it. Any thread may leave errands and run them. */
#ifndef UCCS_CORE_CALLBACK_QUEUE_H
#define UCCS_CORE_CALLBACK_QUEUE_H

#include "base/atomic.h"

struct uccs_callback {
    void (*run)(struct uccs_callback *callback); /* owns the callback from then on */
    struct uccs_callback *next;
};

/* Takes no lock. */
void uccs_callback_push(struct uccs_callback *callback);

extern struct uccs_callback *uccs_callback_queue; /* the last one first; null: none; acqrel */

/* Runs the errands in their order. Does nothing inside an callback of this thread. Returns their number. */
int uccs_callbacks_run_slow(void);

static inline int uccs_callbacks_run(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_callback_queue) != 0) ? uccs_callbacks_run_slow() : 0;
}

#endif
