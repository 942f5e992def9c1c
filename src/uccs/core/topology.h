/* Which PEs are on this PE's node: those of the runtime environment (rte.h), or of a pretended node. A test may pretend
 * that the PEs of one machine are on several nodes (LATERAL_NODE_SIZE); then only PEs of one of these share memory. */
#ifndef UCCS_CORE_TOPOLOGY_H
#define UCCS_CORE_TOPOLOGY_H

#include <stdint.h>

struct uccs_topology {
    int first;                /* PE of node index 0 */
    uint32_t pes, index;      /* PEs of the node; mine among them */
    uint32_t slot;            /* of node index 0 in the file; the slots of a node lie side by side */
    const uint32_t *index_of; /* as in struct uccs_core; null when the node's PEs run in a row */
    const int *pe_of;
};

/* Finds my node. Returns 0, or -1 after one line. One thread, once in a process; the functions below, any thread after it. */
int uccs_topology_find(struct uccs_topology *found);

/* Returns the slot of a PE's memory in the node's file, by its index there (rte.h). */
uint32_t uccs_topology_slot(uint32_t index);

/* Returns the number of a PE's node. */
int uccs_node_of(int pe);

/* Returns a number above that of every node. */
int uccs_node_most(void);

#endif
