/* The order and the completion of this process's operations. */
#ifndef MPI_WINDOW_COMPLETION_H
#define MPI_WINDOW_COMPLETION_H

#include "mpi/window/control.h"
#include "mpi/window/window.h"

/* Marks a target of another node: an operation to it begins, so flushes must wait for it and MPI_Win_unlock_all must unlock it. `answered`: the
 * operation is a fetch. */
static inline void lmpi_mark_far(struct lmpi_window *window, struct lmpi_target *target, bool answered)
{
    struct lmpi_window *first = lmpi_window_first(window);
    unsigned bit = 1u << window->kind;
    int rank = (int)(target - window->target);
    if (first->open & LMPI_OPEN_LOCK_ALL &&
        !(__atomic_load_n(&first->target[rank].open, __ATOMIC_ACQUIRE) & LMPI_OPEN_LATE)) /* release: lmpi_lock_late */
        lmpi_lock_late(first, rank);
    target->far_ops = answered ? LMPI_FAR_ANSWERED : LMPI_FAR_SOME;
    if (window->has_dups && !(__atomic_load_n(&first->kinds, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(&first->kinds, bit, __ATOMIC_RELAXED); /* read: lmpi_complete on the same thread, or later */
}

/* How operations to other nodes travel: a stream of the substrate for each kind of window (LMPI_THREAD, LMPI_ORDERED).
 * All windows of a kind share its stream. Kind 0 is the context's own; the others are made at first use and live as long
 * as the substrate. Any thread. */
#define LMPI_KINDS 4

/* Returns the endpoint of a kind that leads to a rank of MPI_COMM_WORLD, or null without memory. */
uccs_endpoint_t lmpi_endpoint_along(unsigned kind, int world);
/* Returns the options of a kind's operations, or null: none. The kind has an endpoint. */
const struct uccs_op *lmpi_stream_op(unsigned kind);
/* Completes the operations of a kind: to the process of an endpoint, or with null to all; `threads`: those of all threads,
 * whatever the scope. */
void lmpi_stream_flush(unsigned kind, bool threads, uccs_endpoint_t to);
/* Waits until the program may use the buffers of a kind's operations. */
void lmpi_stream_flush_local(unsigned kind, uccs_endpoint_t to);
/* Releases all streams. No operation is under way. */
void lmpi_streams_end(void);

/* The order of what a thread stores to mapped memory and loads from it.
 *
 * A processor may load before its earlier stores have left for the others, until a full fence. A flush needs that fence: two
 * ranks that each put, flush and get what the other has put must not both miss it. The fence waits until the processor owns the
 * line of its last store, which takes long while other cores store to that line.
 *
 * In thread scope a flush concerns its own thread, so it leaves the fence to that thread's next load: its next get, or
 * MPI_Win_sync before it loads from its own memory. Until then it only stores, and processors of x86 let others see stores in the
 * order of the program; others do not, so there each flush has its fence. */
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
static inline void lmpi_order_issue(const struct lmpi_window *window)
{
    if (__builtin_expect((window->kind & LMPI_ORDERED) | lmpi_fence_is_due, 0))
        lmpi_fence();
}

/* Complete this process's operations at one target, or at all of them (-1). They return MPI_SUCCESS, or the error class of
 * an operation that a target has refused since the last call, whatever the rank. */
int lmpi_complete(struct lmpi_window *window, int rank);
/* Like lmpi_complete, for the operations of all threads, whatever the scope. */
int lmpi_complete_threads(struct lmpi_window *window, int rank);
/* Like lmpi_complete_threads, without the fence behind stores, for a caller that gives a lock back. */
int lmpi_complete_stored(struct lmpi_window *window, int rank);
/* Waits until the program may use its buffers of the operations at one target, or at all (-1). */
void lmpi_complete_local(const struct lmpi_window *window, int rank);
/* Adds a request to the operations of a window with dynamic memory on other nodes, whose owners alone know which addresses are right.
 * Returns false without memory. */
bool lmpi_refusals_begin(struct lmpi_window *window);
void lmpi_refusals_end(struct lmpi_window *window);

#endif
