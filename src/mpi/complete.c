/* Completion of this process's operations: stores need a fence, operations by messages a flush. */
#include "streams.h"
#include "window.h"

/* Returns the kinds of the operations that a flush at these targets concerns. With many threads the mark stays: a thread
 * must not find it gone while another still waits for the operations. */
static unsigned kinds_at(struct lmpi_window *window, int first, int n)
{
    bool wait = false;
    if (window->family && !window->part)
        return __atomic_load_n(window->parent ? &window->parent->kinds : &window->kinds, __ATOMIC_RELAXED);
    for (int i = first; i < first + n; i++)
        wait |= window->target[i].far_ops;
    for (int i = first; i < first + n && wait && !lmpi_life.any_thread; i++)
        window->target[i].far_ops = 0;
    return wait ? 1u << window->kind : 0;
}

static void flush(unsigned kinds, bool threads)
{
    for (unsigned kind = 0; kinds >> kind; kind++)
        if (kinds >> kind & 1)
            lmpi_stream_flush(kind, threads);
}

void lmpi_complete_at(struct lmpi_window *window, int rank)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(window->target[rank].far_ops | window->family, 0))
        flush(kinds_at(window, rank, 1), !(window->kind & LMPI_THREAD));
}

void lmpi_complete_all(struct lmpi_window *window)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    flush(kinds_at(window, 0, window->ranks), !(window->kind & LMPI_THREAD));
}

void lmpi_complete_threads(struct lmpi_window *window, int rank)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    flush(kinds_at(window, rank < 0 ? 0 : rank, rank < 0 ? window->ranks : 1), true);
}
