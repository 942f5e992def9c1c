/* Completion of this process's operations: stores need a fence, operations by messages a flush. */
#include "window.h"

/* With many threads the mark stays: a thread must not find it gone while another still waits for the operations. */
static void flush_far(struct lmpi_target *target, int n)
{
    bool wait = false;
    for (int i = 0; i < n; i++)
        wait |= target[i].far_ops;
    for (int i = 0; i < n && wait && !lmpi_life.any_thread; i++)
        target[i].far_ops = 0;
    if (wait)
        uccs_flush(lmpi_life.context);
}

void lmpi_complete_at(struct lmpi_window *window, int rank)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(window->target[rank].far_ops, 0))
        flush_far(&window->target[rank], 1);
}

void lmpi_complete_all(struct lmpi_window *window)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    flush_far(window->target, window->ranks);
}
