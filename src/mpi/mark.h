/* Operations to another node leave a mark, so that flushes and locks find their targets. */
#ifndef MPI_MARK_H
#define MPI_MARK_H

#include "lock.h"

/* Notes that an operation to another node begins; `told`: a fetch. */
static inline void lmpi_mark_far(struct lmpi_window *window, struct lmpi_target *target, bool told)
{
    struct lmpi_window *first = window->parent ? window->parent : window;
    unsigned bit = 1u << window->kind;
    int rank = (int)(target - window->target);
    if (first->open & LMPI_OPEN_LOCK_ALL &&
        !(__atomic_load_n(&first->target[rank].open, __ATOMIC_ACQUIRE) & LMPI_OPEN_LATE)) /* release: lmpi_lock_late */
        lmpi_lock_late(first, rank);
    target->far_ops = told ? LMPI_FAR_TOLD : LMPI_FAR_SOME;
    if (window->family && !(__atomic_load_n(&first->kinds, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(&first->kinds, bit,
                          __ATOMIC_RELAXED); /* read: lmpi_complete_at on the same thread, or later */
}

#endif
