/* Errands are functions that a thread in progress shall call, holding no lock: the completion functions of programs.
 * A thread that completes an operation, often under the lock of a lane, leaves an errand; waits, tests and progress run
 * it. Any thread may leave errands and run them. */
#ifndef UCCS_CORE_ERRAND_H
#define UCCS_CORE_ERRAND_H

#include "base/atomic.h"

struct uccs_errand {
    void (*run)(struct uccs_errand *errand); /* owns the errand from then on */
    struct uccs_errand *next;
};

/* Takes no lock. */
void uccs_errand_leave(struct uccs_errand *errand);

extern struct uccs_errand *uccs_errands; /* the last one first; null: none; acqrel */

/* Runs the errands in their order. Does nothing inside an errand of this thread. Returns their number. */
int uccs_errands_run_slow(void);

static inline int uccs_errands_run(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_errands) != 0) ? uccs_errands_run_slow() : 0;
}

#endif
