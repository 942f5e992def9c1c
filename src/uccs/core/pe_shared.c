#include "uccs/core/pe_shared.h"

#include <sched.h>

/* The first process that needs the rings formats them; the others wait for it, which takes as long as some stores. */
lat_cold void uccs_pe_shared_open_rings_slow(struct uccs_pe_shared *own, uint32_t context)
{
    uint32_t state = PE_RINGS_CLOSED;
    _Static_assert(PE_SHARED_RING_CELLS * (PE_SHARED_CELL_BYTES + CACHE_LINE) + sizeof(struct ring) <=
                       PE_SHARED_RING_BYTES,
                   "a ring fits");
    if (atomic_cas_acquire(&own->open[context], &state, PE_RINGS_OPENING)) {
        for (uint32_t which = 0; which < PE_SHARED_RINGS; which++)
            ring_format(own->rings[context][which], PE_SHARED_RING_CELLS, PE_SHARED_CELL_BYTES);
        atomic_store_release(&own->open[context], PE_RINGS_OPEN); /* acquire: uccs_pe_shared_open_rings */
        return;
    }
    while (atomic_load_acquire(&own->open[context]) != PE_RINGS_OPEN)
        sched_yield();
}
