/* Symmetric memory. These functions turn an address of this PE into segment and offset, and from these find a node
 * peer's memory, which this process maps.
 *
 * Any thread may call uccs_near. One thread of each PE of the node calls uccs_memory_open and _close (collective). */
#ifndef UCCS_CORE_MEMORY_H
#define UCCS_CORE_MEMORY_H

#include "uccs/core/core.h"

#include <stdbool.h>

enum uccs_segment { UCCS_NOWHERE, UCCS_HEAP, UCCS_IMAGE };

/* Tells the compiler that a mapped address is never null, so that callers test for null only once. */
static inline void *uccs_mapped(uintptr_t address)
{
    if (address == 0)
        __builtin_unreachable();
    return (void *)address;
}

/* Returns the address in this process of PE `pe`'s copy of `addr`. Returns null when the PE is off the node or does not
 * exist, or `addr` is not symmetric memory; uccs_memory_find tells which. Also returns null on a scattered node, where
 * uccs_memory_resolve looks into a table. Makes two unsigned range checks and reads
 * only the two cache lines of uccs_core. */
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

/* Returns the segment of mine that holds the address, or UCCS_NOWHERE, and stores the offset in it. */
enum uccs_segment uccs_memory_find(const void *addr, size_t *offset);

/* Like uccs_near, but works also where the images of the node's PEs differ (the fast image range is empty
 * then), and on scattered nodes. */
void *uccs_memory_resolve(const void *addr, int pe);

struct uccs_memory_want {
    size_t heap_bytes;
    size_t adapter_bytes;                       /* of the adapter's part of the heap, in a job on several nodes */
    size_t (*region_bytes)(uint32_t node_size); /* returns the size of the region (mem/region.h) */
    bool globals;                               /* true: share the program's globals */
};

/* Agrees on sizes with the node, grows and maps the node's file, maps the globals of its PEs. On return all PEs of the node are
 * ready for each other's stores. Returns 0, or -1 after a line. */
int uccs_memory_open(const struct uccs_memory_want *want);
void uccs_memory_close(void);

/* The adapter's part of the heap lies behind the heap proper, at uccs_core.adapter_at; it is empty where there is none. The network's
 * adapter does all atomics on memory there (proto/direct.c). uccs_near does not know this memory, so operations on it go to
 * the slow halves, which uccs_memory_find and uccs_memory_resolve serve; both treat it as the heap. Returns true when the address
 * is there. */
static inline bool uccs_memory_of_adapter(const void *addr)
{
    return (uintptr_t)addr - uccs_core.heap_start - uccs_core.adapter_at < uccs_core.adapter_bytes;
}

/* Returns the size of my heap with the adapter's part. */
static inline size_t uccs_memory_heap_whole(void)
{
    return uccs_core.adapter_bytes ? uccs_core.adapter_at + uccs_core.adapter_bytes : uccs_core.heap_bytes;
}

/* Makes core dumps hold my heap, or the adapter's part of it, up to offset `end` from now on. The allocator calls it, under its
 * lock, when it has handed out bytes up to `end`. */
void uccs_memory_used(size_t end);

/* Asks the kernel for huge pages under memory of mine, a multiple of the page size. It gives them where the system's
 * transparent_hugepage/shmem_enabled is "advise"; elsewhere nothing changes. A page gets its size when it is first touched. */
void uccs_memory_ask_huge(char *start, size_t bytes);

/* Return this process's mapping of a node PE's globals, whether or not my image is the same, and of its region. */
static inline char *uccs_memory_image(uint32_t index)
{
    return (char *)(uccs_core.image_peers + index * uccs_core.image_stride);
}

static inline char *uccs_memory_region(uint32_t index)
{
    return uccs_core.regions + index * uccs_core.region_bytes;
}

/* Returns the reason why the program's globals are not shared, or null when they are. */
const char *uccs_memory_why_private(void);

/* --- Which PEs are on this PE's node (topology.c): those of the runtime environment (rte.h), or of a pretended node. A test may
 * pretend that the PEs of one machine are on several nodes (LATERAL_NODE_SIZE); then only PEs of one of these share memory. */

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
