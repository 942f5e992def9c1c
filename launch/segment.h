/* The launcher's side of the node's shared memory; src/rte/node.h has the layout.
 *
 * The memory is an anonymous file. It has no name, so nothing can be left behind. Only PEs inherit it. */
#ifndef LAUNCH_SEGMENT_H
#define LAUNCH_SEGMENT_H

#include "options.h"
#include "rte/node.h"

struct segment {
    int fd;          /* the same number in every PE; close-on-exec here */
    int parent_pipe; /* the same; PEs under wrapper scripts die with the supervisor by it (base/parent_death.h); -1: none */
    struct node *node;                /* header and PE records, mapped */
    const struct node_wait *waits;    /* records of waits that last, mapped to be read */
    const struct node_crash *crashes; /* how PEs have died, the same */
};

/* Maps the records of waits, where they begin in the file. Returns null with errno on failure. */
const struct node_wait *segment_map_waits(int fd, uint32_t pes);
/* The same for the records of crashes. */
const struct node_crash *segment_map_crashes(int fd, uint32_t pes);
/* Returns 0, or -1 after one line. */
int segment_make(struct segment *segment, const struct options *options);

#endif
