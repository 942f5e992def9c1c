/* Hears that a peer has released memory. See use.c. Any thread; under the service lane's lock. */
#include "uccs/link/inner.h"

/* The lanes flush their puts when they are moved on next, since the program may not do so for long. */
static void land_all(void)
{
    for (uint64_t lanes = link_lanes_open(); lanes; lanes &= lanes - 1) {
        struct link_lane *lane = &link_lanes[__builtin_ctzll(lanes)];
        atomic_store_relaxed(&lane->lands, 1);
        link_thread_remind(lane);
    }
}

bool link_region_gone(int pe, uint64_t region)
{
    const bool busy = link_use_forbid(pe, region);
    if (busy)
        land_all();
    return busy;
}
