/* What each PE of a node offers to its peers for messages and memory handles, in the node's memory:
 *
 *   struct uccs_own: registrations | lock stripes | rings of each context
 *
 * The owner formats its rings when it makes the context; everything else starts as zeros. */
#ifndef UCCS_OWN_H
#define UCCS_OWN_H

#include "base/ring.h"
#include "rte/node.h"
#include "uccs/core.h"

#define OWN_REGISTRATIONS 4096
#define OWN_STRIPES 64
#define OWN_CONTEXTS 16
#define OWN_RINGS 4 /* request and reply, network and user */
#define OWN_RING_CELLS 1024
#define OWN_RING_ROOM (300u << 10)

/* One piece of memory that others may hold handles of. */
struct uccs_registration {
    uint32_t generation; /* odd while registered; release by the owner, acquire by importers */
};

struct uccs_stripe {
    cache_aligned uint32_t lock; /* 0 free; acquire exchange, release store */
};

struct uccs_own {
    cache_aligned struct uccs_registration registrations[OWN_REGISTRATIONS];
    struct uccs_stripe stripes[OWN_STRIPES];
    uint32_t open[OWN_CONTEXTS]; /* the context exists and its rings are formatted: release, acquire */
    cache_aligned char rings[OWN_CONTEXTS][OWN_RINGS][OWN_RING_ROOM];
};
_Static_assert(sizeof(struct uccs_own) <= NODE_OWN_BYTES, "a PE's share is large enough");
_Static_assert(OWN_RING_ROOM % CACHE_LINE == 0, "rings start on a line");

static inline struct uccs_own *uccs_own_of(uint32_t index)
{
    return (struct uccs_own *)(uccs_core.own + (size_t)index * NODE_OWN_BYTES);
}

static inline struct uccs_own *uccs_own_mine(void)
{
    return uccs_own_of((uint32_t)uccs_core.me - uccs_core.first);
}

static inline struct ring *uccs_own_ring(uint32_t index, uint32_t context, uint32_t which)
{
    return (struct ring *)uccs_own_of(index)->rings[context][which];
}

#endif
