/* Bounded ring of fixed-size cells for many producers and many consumers, in memory that threads or processes share. It
 * holds no pointers. Zeroed memory with a formatted head is an empty ring, so cells of a fresh file cost no page before
 * their first use.
 *
 * Any thread of any process that maps it may call everything but ring_format. Consumers take the messages of one
 * producer in the order of its reserves, and each message exactly once. Nothing here allocates or locks.
 *
 *   void *cell = ring_reserve(ring, &ticket);   null: full
 *   ... write up to cell_bytes ...
 *   ring_commit(ring, ticket);
 *
 *   void *cell = ring_take(ring, &ticket);      null: empty
 *   ... read ...
 *   ring_release(ring, ticket);
 *
 * Callers compete by compare and swap, and any of them may win; the ring serves them in no particular order.
 *
 * When a producer dies between reserve and commit, its cell never becomes full and consumers stop in front of it. A
 * consumer that dies before release stops producers in the same way. The ring does not repair this: when a PE dies, the
 * job ends. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

struct ring {
    cache_aligned uint32_t cells; /* a power of two; this line is constant after ring_format */
    uint32_t shift;               /* its logarithm */
    uint32_t stride;              /* bytes from cell to cell, whole lines */
    uint32_t cell_bytes;          /* payload */
    cache_aligned uint64_t tail;  /* next position to reserve; written by producers */
    cache_aligned uint64_t head;  /* next position to take; written by consumers */
    cache_aligned char cell[];
};
_Static_assert(sizeof(struct ring) == 3 * CACHE_LINE, "constants, producers and consumers on lines of their own");

/* Returns the bytes of a ring; cells is a power of two. A payload of 56 bytes fills a line. */
size_t ring_size(uint32_t cells, uint32_t cell_bytes);

/* `memory` is zeroed, aligned to a line, and not yet seen by others; the caller publishes it. */
struct ring *ring_format(void *memory, uint32_t cells, uint32_t cell_bytes);

/* Payloads are aligned to 8 bytes. */
void *ring_reserve(struct ring *ring, uint64_t *ticket);
void ring_commit(struct ring *ring, uint64_t ticket);
void *ring_take(struct ring *ring, uint64_t *ticket);
void ring_release(struct ring *ring, uint64_t ticket);

/* True when there is nothing to take just now. It looks once, and the answer may be old when it is used. */
bool ring_is_empty(const struct ring *ring);

#endif
