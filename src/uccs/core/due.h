/* What is due, in numbers: what a thread that waits or tests shall do besides looking at its own variable. The thread
 * loads a number to learn that nothing is due, which is all that most waits pay. Every number is relaxed: a hint. Any
 * thread. */
#ifndef UCCS_CORE_DUE_H
#define UCCS_CORE_DUE_H

#include "base/atomic.h"

#include <stdbool.h>

/* For every look: pieces of work (work.h), errands (callback.h), UCCS_POLL_ALWAYS pollers (poll.h). */
extern uint32_t uccs_due;
extern uint32_t uccs_due_endless; /* the pollers among them */
/* For waits and tests that found nothing: UCCS_POLL_IDLE pollers (poll.h) and the program's (poller.h). */
extern uint32_t uccs_due_idle;

/* Returns true when a piece of work or an callback is due. */
static inline bool uccs_due_ends(void)
{
    return atomic_load_relaxed(&uccs_due) > atomic_load_relaxed(&uccs_due_endless);
}

#endif
