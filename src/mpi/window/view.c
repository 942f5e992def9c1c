#include "mpi/window/view.h"

#include "mpi/window/window.h"

#include <stdint.h>

_Thread_local struct lmpi_view lmpi_views[LMPI_VIEWS];

const struct lmpi_view *lmpi_view_slow(const struct lmpi_target *target, size_t offset)
{
    struct lmpi_view *slot = &lmpi_views[((uintptr_t)target / sizeof *target ^ offset >> 16) & (LMPI_VIEWS - 1)];
    uint64_t age = __atomic_load_n(&lmpi_windows_age, __ATOMIC_ACQUIRE); /* release: a window comes or goes */
    struct lmpi_view found = {.target = target, .age = age};
    if (uccs_memory_view(target->memory, offset, &found.seen) != UCCS_OK)
        return 0;
    *slot = found;
    return slot;
}
