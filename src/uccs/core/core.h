/* Every operation reads struct uccs_core to find this PE's symmetric memory and that of its node peers.
 *
 * One thread writes it, in uccs_memory_open and uccs_memory_close (init and finalize); any thread reads it in between.
 * Before init and after finalize the ranges are empty, so every address misses and goes to the slow half, which
 * decides. Therefore the always-on checks cost nothing. */
#ifndef UCCS_CORE_CORE_H
#define UCCS_CORE_CORE_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uccs_core {
    cache_aligned uint32_t first; /* PE number of node index 0 */
    uint32_t size;                /* PEs reachable by load and store; 0 when closed, and on a scattered node */
    uintptr_t heap_start;         /* my heap */
    uintptr_t heap_bytes;
    uintptr_t heap_peers; /* heap of node index 0, as mapped here */
    uintptr_t heap_stride;
    uintptr_t image_start; /* my globals; empty unless all peers share them */
    uintptr_t image_bytes;
    cache_aligned uintptr_t image_peers;
    uintptr_t image_stride;
    uint32_t spin; /* a waiter yields after this many looks */
    uint32_t oversubscribed;
    int me;                   /* my PE number */
    int npes;                 /* PEs in the job */
    uint32_t pes;             /* PEs of the node, reachable by load and store; 0 when closed */
    uint32_t index;           /* mine among them */
    const uint32_t *index_of; /* of a scattered node: where each PE lies (node.h), by its number; else null */
    const int *pe_of;         /* of a scattered node: the PE of each index */
    uintptr_t globals_start;  /* my globals, also where the peers have others; empty when they are private */
    size_t globals_bytes;
    size_t adapter_at, adapter_bytes; /* the adapter's part of a heap (memory.h) */
    char *regions;                    /* region of node index 0, as mapped here (mem/region.h) */
    size_t region_bytes;              /* of each PE */
    char *groups;                     /* group area of the node's memory */
    char *counters;                   /* counter area */
    char *pe_shared;                  /* of struct uccs_pe_shared, one per PE */
    uint32_t naps; /* a waiter's sleeps double this often at most: more where many PEs share a core (wait.c) */
};

extern struct uccs_core uccs_core;

/* On a scattered node this and an index name a PE, too, for callers that can only count in strides. */
#define UCCS_PE_BY_INDEX (1 << 30)

/* Like uccs_index, on a scattered node. */
uint32_t uccs_index_in_table(int pe);

/* Returns the index on this node of a PE, or, for a PE elsewhere, a number that is not below uccs_core.pes and tells
 * uccs_pe_at which PE it is. */
static inline uint32_t uccs_index(int pe)
{
    return lat_likely(!uccs_core.index_of) ? (uint32_t)pe - uccs_core.first : uccs_index_in_table(pe);
}

/* Returns the PE of an index, which uccs_index returned. */
static inline int uccs_pe_at(uint32_t index)
{
    if (lat_likely(!uccs_core.pe_of))
        return (int)(index + uccs_core.first);
    return index < uccs_core.pes ? uccs_core.pe_of[index] : (int)(index - uccs_core.pes);
}

/* Returns true when the PE is in the job and not on this node. */
static inline bool uccs_far_pe(int pe)
{
    return pe >= 0 && pe < uccs_core.npes && uccs_index(pe) >= uccs_core.pes;
}

/* Order and completion on the node. An operation is complete when its stores are visible, so both functions are fences of the
 * processor; they order the calling thread's operations. For peers of other nodes see proto/proto.h. */

/* Orders earlier puts and atomics before later ones, per target. Partner: the acquire loads in wait loops. */
static inline void uccs_fence_stores(void)
{
    atomic_fence_release();
}

/* Completes earlier operations at their targets before anything that follows, loads included. */
static inline void uccs_quiet(void)
{
    atomic_fence_seqcst();
}

/* Number of programs and libraries that are between uccs_init and uccs_finalize. These two functions store it
 * (release), uccs_running loads it (acquire). */
extern int uccs_users;

static inline bool uccs_running(void)
{
    return atomic_load_acquire(&uccs_users) > 0;
}

/* Gives a small number to every thread that enters the substrate, so that threads keep to workers, shards and lines of
 * their own. Any thread. A thread takes the lowest number that no other thread has, and gives it back when it ends; what
 * it has left under way then counts as the next owner's. A user with n workers takes the number modulo n. */

extern _Thread_local uint32_t uccs_thread_mine; /* number + 1; 0: the thread has no number yet */
uint32_t uccs_thread_new(void);

/* Returns a number above that of every thread so far. The caller has synchronised with the threads that it asks about. */
uint32_t uccs_threads(void);

#define UCCS_THREAD_NUMBERS 4096 /* further threads share numbers */

static inline uint32_t uccs_thread(void)
{
    return lat_likely(uccs_thread_mine != 0) ? uccs_thread_mine - 1 : uccs_thread_new();
}

/* The end of a job for a fault between nodes. The first PE of a node that finds a fault prints one line; the others wait for
 * the end silently, since they would report the same fault or a consequence of it. Any thread. */

/* Ends the job after the line. */
_Noreturn void uccs_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns the memory, unless there is none: then it ends the job after the line "no memory for `what` PE `pe`". */
void *uccs_must_have(void *memory, const char *what, int pe);
/* Ends the job for that PE's process, which is gone, after a second in which launcher or watcher may report its end first. */
_Noreturn void uccs_fail_process_lost(int pe, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the job for that PE's host, which is lost, after the same second. */
_Noreturn void uccs_fail_host_lost(int pe, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes that a PE has said that the job ends, so that this process does not take that PE's end for a fault. Returns
 * false when it was noted before. */
bool uccs_end_note(void);
/* Returns true once the end is noted. */
bool uccs_end_noted(void);
/* Clears the note at the start of a life. */
void uccs_end_forget(void);

#endif
