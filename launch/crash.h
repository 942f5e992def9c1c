/* Where PEs have crashed, from the records that they made as they died (src/rte/crash.h). */
#ifndef LAUNCH_CRASH_H
#define LAUNCH_CRASH_H

#include "rte/node.h"

/* Prints signal, address, functions and source lines of each PE that made a record, equal ones once. */
void crash_print(const struct node *node, const struct node_crash *crashes);

#endif
