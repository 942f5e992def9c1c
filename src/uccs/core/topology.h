/* Which PEs are on this PE's node: those of the runtime environment (rte.h), or of a pretended node. A test may pretend
 * that the PEs of one machine are on several nodes; then only PEs of one of these share memory.
 *
 * For src/uccs/core and what asks for nodes. uccs_topology_find: one thread, once in a process. The rest: any thread, after
 * it. */
#ifndef UCCS_CORE_TOPOLOGY_H
#define UCCS_CORE_TOPOLOGY_H

#include <stdint.h>

struct uccs_topology {
    int first;              /* PE of node index 0 */
    uint32_t pes, index;    /* PEs of the node; mine among them */
    uint32_t slot;          /* of node index 0 in the file; the slots of a node lie side by side */
    const uint32_t *places; /* as in struct uccs_core; null when the node's PEs run in a row */
    const int *numbers;
};

/* Returns 0, or -1 after one line. */
int uccs_topology_find(struct uccs_topology *where);

/* Returns the slot of a PE's memory in the node's file, by its index there (rte.h). */
uint32_t uccs_topology_slot(uint32_t index);

/* Returns the number of a PE's node, which may be a pretended one, below uccs_node_most. */
int uccs_node_of(int pe);
int uccs_node_most(void);

#endif
