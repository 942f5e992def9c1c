/* The pollers of the program (uccs_poller_add of uccs.h): functions of other libraries in this process, whose messages
 * must move while a thread waits here. Any thread.
 *
 * A wait or test that found nothing calls uccs_pollers. It is the only place that calls them, so it also holds the
 * rules: a thread that is in a poller already, in a handler, or under a lock of ours, calls none. */
#ifndef UCCS_CORE_POLLER_H
#define UCCS_CORE_POLLER_H

#include "base/atomic.h"

#include <stdbool.h>

enum { UCCS_PROGRAM_POLLERS = 64 }; /* at most, at once */

extern uint32_t uccs_pollers_there; /* number of pollers; relaxed: a hint */

/* Number of reasons why this thread must call no poller now. A thread counts itself in and out: a handler runs, a lock
 * is held, or a poller runs. The progress thread is counted for ever. */
extern _Thread_local int uccs_pollers_barred;

int uccs_pollers_slow(void);

/* Calls the program's pollers. Returns non-zero when one of them found something, else 0. */
static inline int uccs_pollers(void)
{
    return lat_unlikely(atomic_load_relaxed(&uccs_pollers_there)) ? uccs_pollers_slow() : 0;
}

#endif
