/* A node's shared memory as the launcher sees it; src/rte/node.h has the layout.
 *
 * The memory is an anonymous file. It has no name, so nothing can be left behind. Only PEs inherit it. */
#ifndef LAUNCH_SEGMENT_H
#define LAUNCH_SEGMENT_H

#include "options.h"
#include "rte/node.h"

#include <sys/types.h>

/* The PEs of a node, for all who look after them: the supervisor, the watcher of a node, and oshrun --status from outside. */
struct view {
    struct node *node; /* header and PE records */
    const struct node_wait *waits;
    const struct node_crash *crashes;
    pid_t *pids; /* of each PE; 0: it has ended, or was not started */
};

static inline const struct node_wait *view_wait(const struct view *view, uint32_t index, int number)
{
    return &view->waits[(size_t)index * NODE_WAITS + (size_t)number];
}

/* Maps the memory that a job of this version has made, read-only with protection PROT_READ, with the numbers of its processes. Returns
 * false when it is none. */
bool view_open(struct view *view, int fd, int protection);
/* Sends a signal to all PEs that live. */
void view_signal(const struct view *view, int signal);

struct segment {
    int fd;          /* the same number in every PE; close-on-exec here */
    int parent_pipe; /* the same; PEs under wrapper scripts die with the supervisor by it (base/process.h); -1: none */
};

/* Makes the memory of a job and opens the view of it. Returns 0, or -1 after one line. */
int segment_make(struct segment *segment, struct view *view, const struct options *options);

#endif
