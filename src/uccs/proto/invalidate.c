/* A peer has released memory: see reference.c. Any thread; under the service worker's lock. */
#include "uccs/proto/inner.h"

/* The workers flush their puts when they are moved on next, since the program may not do so for long. */
static void land_all(void)
{
    for (uint64_t workers = proto_workers_open(); workers; workers &= workers - 1) {
        struct proto_worker *worker = &proto_workers[__builtin_ctzll(workers)];
        atomic_store_relaxed(&worker->lands, 1);
        proto_thread_remind(worker);
    }
}

bool proto_region_invalidated(int pe, uint64_t region)
{
    const bool busy = proto_reference_invalidate(pe, region);
    if (busy)
        land_all();
    return busy;
}
