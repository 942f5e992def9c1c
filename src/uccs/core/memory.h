/* Symmetric memory: where it is, and whose. The address becomes segment and offset, and a peer on
 * this node has its segment mapped here.
 *
 * uccs_near: any thread. uccs_memory_open, _close: one thread, collective over the node. */
#ifndef UCCS_CORE_MEMORY_H
#define UCCS_CORE_MEMORY_H

#include "uccs/core/core.h"

#include <stdbool.h>

enum uccs_segment { UCCS_NOWHERE, UCCS_HEAP, UCCS_IMAGE };

/* Tells the compiler what the map's place makes sure of, so that callers test for null only once. */
static inline void *uccs_mapped(uintptr_t address)
{
    if (address == 0)
        __builtin_unreachable();
    return (void *)address;
}

/* The address in this process of `addr` of PE `pe`, or null: off the node, no such PE, or not
 * symmetric memory; uccs_memory_find tells which. Two unsigned range checks, no memory but the
 * core's two lines. */
static lat_hot void *uccs_near(const void *addr, int pe)
{
    uint32_t index = (uint32_t)pe - uccs_core.first;
    if (lat_unlikely(index >= uccs_core.size))
        return 0;
    uintptr_t offset = (uintptr_t)addr - uccs_core.heap_start;
    if (lat_likely(offset < uccs_core.heap_bytes))
        return uccs_mapped(uccs_core.heap_peers + index * uccs_core.heap_stride + offset);
    offset = (uintptr_t)addr - uccs_core.image_start;
    if (lat_likely(offset < uccs_core.image_bytes))
        return uccs_mapped(uccs_core.image_peers + index * uccs_core.image_stride + offset);
    return 0;
}

/* Which of my segments holds the address; its offset there. */
enum uccs_segment uccs_memory_find(const void *addr, size_t *offset);

/* True when the PE's image has the same globals at the same offsets. */
bool uccs_memory_same_image(int pe);

/* As uccs_near, also where the images of the node's PEs differ (then the fast ranges are empty). */
void *uccs_memory_resolve(const void *addr, int pe);

struct uccs_memory_want {
    size_t heap_bytes;
    size_t region_bytes; /* for uccs_memory_allocate and staged messages */
    bool globals;        /* move the program's globals onto shared pages */
};

/* Agrees on sizes with the node, grows and maps the node's file, moves the globals. Ends with all
 * PEs of the node ready for each other's stores. 0, or -1 after a line. */
int uccs_memory_open(const struct uccs_memory_want *want);
void uccs_memory_close(void);

/* My heap, for the allocator. */
void *uccs_memory_heap(size_t *bytes);

/* The allocator has handed out bytes up to offset `end` of my heap: core dumps hold them from now on. Under the
 * allocator's lock. */
void uccs_memory_used(size_t end);

/* The length of my image segment, shared or not. */
size_t uccs_memory_image_bytes(void);

/* Where my globals begin; null when they are private. */
const void *uccs_memory_image_start(void);

/* The globals of a PE of the node, as mapped here, whether or not mine are the same. */
char *uccs_memory_image(uint32_t index);

/* The region of a PE of the node, as mapped here. */
char *uccs_memory_region(uint32_t index, size_t *bytes);

/* Why the program's globals are not shared, or null when they are. */
const char *uccs_memory_why_private(void);

/* PEs of a pretended node (LATERAL_NODE_SIZE, LATERAL_TRANSPORTS=ucx); 0: nodes are nodes. */
uint32_t uccs_memory_pretends(void);

/* The node of a PE, a pretended one too; PEs of a node are consecutive. */
int uccs_node_of(int pe);

#endif
