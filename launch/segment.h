/* The node's shared memory as the launcher makes it: layout in src/rte/node.h.
 *
 * An anonymous file: it has no name, so nothing can be left behind. Only PEs inherit it. */
#ifndef LAUNCH_SEGMENT_H
#define LAUNCH_SEGMENT_H

#include "options.h"
#include "rte/node.h"

struct segment {
    int fd;            /* the same number in every PE; close-on-exec here */
    struct node *node; /* header and PE records, mapped */
};

/* Returns 0, or -1 after one line. */
int segment_make(struct segment *segment, const struct options *options);

#endif
