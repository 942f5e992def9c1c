/* The order of what a thread stores to mapped memory and loads from it.
 *
 * A processor may load before its earlier stores have left for the others, until a full fence. A flush needs that fence: two
 * ranks that each put, flush and get what the other has put must not both miss it. The fence waits until the processor owns the
 * line of its last store, which takes long while other cores store to that line.
 *
 * In thread scope a flush concerns its own thread, so it leaves the fence to that thread's next load: its next get, or
 * MPI_Win_sync before it loads from its own memory. Until then it only stores, and processors of x86 let others see stores in the
 * order of the program; others do not, so there each flush has its fence. */
#ifndef MPI_ORDER_H
#define MPI_ORDER_H

#include "window.h"

#ifdef __x86_64__
enum { LMPI_STORES_IN_ORDER = 1 };
#else
enum { LMPI_STORES_IN_ORDER = 0 };
#endif

extern _Thread_local bool lmpi_fence_is_due; /* a flush of this thread has left its fence */

static inline void lmpi_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* partner: that of the other rank, between its stores and its loads */
    lmpi_fence_is_due = false;
}

/* Between a thread's stores and the return of its flush. */
static inline void lmpi_fence_of_flush(const struct lmpi_window *window)
{
    if (LMPI_STORES_IN_ORDER && window->kind & LMPI_THREAD)
        lmpi_fence_is_due = true;
    else
        lmpi_fence();
}

/* Before a thread loads what other processes store. */
static inline void lmpi_before_load(void)
{
    if (__builtin_expect(lmpi_fence_is_due, 0))
        lmpi_fence();
}

/* Before each operation of a window on mapped memory: one in an ordered window comes behind the earlier ones. */
static inline void lmpi_keep_order(const struct lmpi_window *window)
{
    if (__builtin_expect((window->kind & LMPI_ORDERED) | lmpi_fence_is_due, 0))
        lmpi_fence();
}

#endif
