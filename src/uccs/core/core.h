/* What every operation reads: where my symmetric memory and my node peers' memory are.
 *
 * Written by uccs_memory_open and uccs_memory_close (one thread, in init and finalize), read by
 * any thread in between. Empty ranges before init and after finalize make every address a miss,
 * which is how the always-on checks cost nothing: a miss goes to the slow half, and that decides. */
#ifndef UCCS_CORE_CORE_H
#define UCCS_CORE_CORE_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uccs_core {
    cache_aligned uint32_t first; /* PE number of node index 0 */
    uint32_t size;                /* PEs reachable by load and store; 0 when closed */
    uintptr_t heap_start;         /* my heap */
    uintptr_t heap_bytes;
    uintptr_t heap_peers; /* heap of node index 0, as mapped here */
    uintptr_t heap_stride;
    uintptr_t image_start; /* my globals; empty unless all peers share them */
    uintptr_t image_bytes;
    cache_aligned uintptr_t image_peers;
    uintptr_t image_stride;
    uint32_t spin; /* looks before a waiter yields */
    uint32_t oversubscribed;
    int me;         /* my PE number */
    int npes;       /* PEs in the job */
    char *groups;   /* group area of the node's memory */
    char *counters; /* counter area */
    char *own;      /* what each PE offers to messages (own.h) */
};

extern struct uccs_core uccs_core;

/* True when the PE is in the job and not on this node. */
static inline bool uccs_far_pe(int pe)
{
    return pe >= 0 && pe < uccs_core.npes && (uint32_t)pe - uccs_core.first >= uccs_core.size;
}

/* Programs and libraries that are between uccs_init and uccs_finalize. Release by these two, acquire by uccs_running. */
extern int uccs_users;

static inline bool uccs_running(void)
{
    return atomic_load_acquire(&uccs_users) > 0;
}

#endif
