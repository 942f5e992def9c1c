/* The waits of a job's PEs that last, as people read them: the call, its object, the source line. One thread.
 *
 * PEs write the records (src/rte/wait_record.h). They are read while the job goes on, so a wait that ends meanwhile is left out. */
#ifndef LAUNCH_WAITERS_H
#define LAUNCH_WAITERS_H

#include "location.h"
#include "rte/node.h"

#include <sys/types.h>

struct view {
    const struct node *node;
    const struct node_wait *waits; /* NODE_WAITS of each PE */
    const pid_t *pids;             /* of each PE; 0: it has ended, or was not started */
};

static inline const struct node_wait *view_wait(const struct view *view, uint32_t index, int number)
{
    return &view->waits[(size_t)index * NODE_WAITS + (size_t)number];
}

struct waiter {
    uint32_t index; /* the PE's on its node */
    int thread;
    double seconds; /* since the wait began */
    struct node_wait_reason on;
    char call[80];
    char object[160];          /* "flag == 7, is 0", "a lock of PE 2"; may be empty */
    struct code_location from; /* where the program called */
};

struct waiters {
    struct waiter *waiter;
    size_t count;
};

void waiters_read(struct waiters *waiters, const struct view *view);
void waiters_free(struct waiters *waiters);

#endif
