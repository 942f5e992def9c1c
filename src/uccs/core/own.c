#include "uccs/core/own.h"

#include <sched.h>

/* The first process that needs the rings formats them; the others wait for it, which takes as long as some stores. */
lat_cold void uccs_own_open_slow(struct uccs_own *own, uint32_t context)
{
    uint32_t state = OWN_SHUT;
    _Static_assert(OWN_RING_CELLS * (OWN_CELL_BYTES + CACHE_LINE) + sizeof(struct ring) <= OWN_RING_ROOM,
                   "a ring fits");
    if (atomic_cas_acquire(&own->open[context], &state, OWN_OPENING)) {
        for (uint32_t which = 0; which < OWN_RINGS; which++)
            ring_format(own->rings[context][which], OWN_RING_CELLS, OWN_CELL_BYTES);
        atomic_store_release(&own->open[context], OWN_OPEN); /* acquire: uccs_own_open */
        return;
    }
    while (atomic_load_acquire(&own->open[context]) != OWN_OPEN)
        sched_yield();
}
