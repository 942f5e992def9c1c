/* Where ranges of dynamic memory lie in this process, for windows whose memory comes and goes, or consists of parts. The
 * owner's table changes when it attaches or detaches memory; a thread keeps what it found until then. Any thread. */
#ifndef MPI_WINDOW_VIEW_H
#define MPI_WINDOW_VIEW_H

#include "mpi/window/window.h"

struct lmpi_view {
    const struct lmpi_target *target;
    uint64_t age; /* of the windows: the target exists */
    struct uccs_view seen;
};

#define LMPI_VIEWS 16 /* a power of two */
extern _Thread_local struct lmpi_view lmpi_views[LMPI_VIEWS];

/* Asks the substrate. Returns null when no range holds the offset. */
const struct lmpi_view *lmpi_view_slow(const struct lmpi_target *target, size_t offset);

/* Returns what holds [at, at + bytes) of a target as this process maps it, or null. Sets *direct: the processor's atomics
 * are in one domain with the substrate's accumulates. `at` counts from the window's start. */
static inline char *lmpi_view(const struct lmpi_target *target, size_t at, size_t bytes, bool *direct)
{
    const size_t offset = target->offset + at;
    const struct lmpi_view *view = &lmpi_views[((uintptr_t)target / sizeof *target ^ offset >> 16) & (LMPI_VIEWS - 1)];
    if (__builtin_expect(view->target != target || view->age != __atomic_load_n(&lmpi_windows_age, __ATOMIC_ACQUIRE) ||
                             __atomic_load_n(view->seen.version, __ATOMIC_ACQUIRE) != view->seen.seen ||
                             offset - view->seen.start >= view->seen.length,
                         0)) { /* release: lmpi_window_add, _remove; the owner's attach and detach */
        view = lmpi_view_slow(target, offset);
        if (!view)
            return 0;
    }
    const size_t inside = offset - view->seen.start;
    *direct = view->seen.domain == UCCS_DOMAIN_CPU;
    return view->seen.address && bytes <= view->seen.length - inside ? view->seen.address + inside : 0;
}

#endif
