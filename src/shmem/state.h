/* The life of the library in this process, and the ways to end the job for a mistake.
 *
 * Any thread. lat_fail ends the whole job after one line "lateral: PE 3: shmem_put: text". */
#ifndef SHMEM_STATE_H
#define SHMEM_STATE_H

#include "uccs/core/core.h"

enum lat_state { LAT_BEFORE, LAT_RUNNING, LAT_AFTER };

extern enum lat_state lat_state;

/* The process is in exit: threads that are still in a loop of calls wait for its end in their next one. */
extern uint32_t lat_leaving;

/* SHMEM_THREAD_SINGLE to _MULTIPLE, as the first init asked for it. */
extern int lat_thread_level;

/* True while the library is running and all PEs are on this node: order and completion need only this one test. */
extern uint32_t lat_on_node;

_Noreturn void lat_fail(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the job after a line that says why the library is not running. */
_Noreturn void lat_fail_state(const char *call);

static inline void lat_require(const char *call)
{
    if (lat_unlikely(lat_state != LAT_RUNNING))
        lat_fail_state(call);
}

#endif
