/* The life of the library in this process, and the ways to end the job for a mistake.
 *
 * Any thread. lat_fail ends the whole job after one line "lateral: PE 3: shmem_put: text". */
#ifndef SHMEM_STATE_H
#define SHMEM_STATE_H

#include "uccs/core/core.h"

enum lat_state { LAT_BEFORE, LAT_RUNNING, LAT_AFTER };

extern enum lat_state lat_state;

/* The kernel's number of the thread that ends this process, behind shmem_global_exit or in the finalize of an exit; 0: none.
 * Other threads that are still in a loop of calls wait for the end of the process in their next one. */
extern uint32_t lat_leaving;

/* Says that the calling thread ends the process with this status. */
void lat_leave(int status);

/* True in the thread that has called lat_leave. */
bool lat_leaves(void);

/* SHMEM_THREAD_SINGLE to _MULTIPLE, as the first init asked for it. */
extern int lat_thread_level;

/* True while the library is running and all PEs are on this node: order and completion need only this one test. */
extern uint32_t lat_on_node;

_Noreturn void lat_fail(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The library is not running. In exit handlers behind shmem_global_exit the process ends here; otherwise the job does, after a
 * line that says why. */
_Noreturn void lat_fail_state(const char *call);

/* Like lat_fail_state, for calls that only release something: returns in exit handlers behind shmem_global_exit, and in a child. */
void lat_release_late(const char *call);

static inline void lat_require(const char *call)
{
    if (lat_unlikely(lat_state != LAT_RUNNING))
        lat_fail_state(call);
}

/* For calls that only release something. Returns false when the library is shut and there is nothing to release any more. */
static inline bool lat_require_or_leave(const char *call)
{
    if (lat_likely(lat_state == LAT_RUNNING))
        return true;
    lat_release_late(call);
    return false;
}

#endif
