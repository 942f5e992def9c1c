#include "uccs/core/pe_shared.h"

#include "uccs/core/wait.h"

/* The first process that needs the rings formats them; the others wait for it, as long as some stores take. They may hold
 * locks, so the program's functions must not run here. */
lat_cold void uccs_pe_shared_open_rings_slow(struct uccs_pe_shared *shared, uint32_t context)
{
    uint32_t state = PE_RINGS_CLOSED;
    _Static_assert(PE_SHARED_RING_CELLS * (PE_SHARED_CELL_BYTES + CACHE_LINE) + sizeof(struct ring) <=
                       PE_SHARED_RING_BYTES,
                   "a ring fits");
    if (atomic_cas_acquire(&shared->open[context], &state, PE_RINGS_OPENING)) {
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++)
            ring_format(shared->rings[context][which], PE_SHARED_RING_CELLS, PE_SHARED_CELL_BYTES);
        atomic_store_release(&shared->open[context], PE_RINGS_OPEN); /* acquire: uccs_pe_shared_open_rings */
        return;
    }
    struct uccs_wait wait uccs_scoped = {0};
    uccs_progress_barred++;
    while (atomic_load_acquire(&shared->open[context]) != PE_RINGS_OPEN)
        uccs_rest(&wait);
    uccs_progress_barred--;
}
