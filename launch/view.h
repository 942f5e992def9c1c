/* A job to look at from outside: the head of its memory and the records of its waits, which are only read. */
#ifndef LAUNCH_VIEW_H
#define LAUNCH_VIEW_H

#include "rte/node.h"

#include <sys/types.h>

struct view {
    const struct node *node;
    const struct node_wait *stays; /* NODE_WAITS of each PE */
    const pid_t *pids;             /* of each PE; 0: it has ended, or was not started */
};

static inline const struct node_wait *view_stay(const struct view *view, uint32_t index, int number)
{
    return &view->stays[(size_t)index * NODE_WAITS + (size_t)number];
}

#endif
