/* Memory objects of the public interface: allocated, registered or imported (design §3, seed 004 §4).
 *
 * An object knows where its memory is in this process (`near`), or that it is not mapped and how to reach
 * it; so an operation does no lookup. Any thread; releasing an object that is in use is the caller's fault.
 *
 * Invariants: a registration's generation is odd while its memory may be imported; release makes it even
 * first, so whoever looks later finds it stale. A handle is believed only under its keyed hash. */
#ifndef UCCS_OBJECT_REGION_H
#define UCCS_OBJECT_REGION_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uccs.h>

struct uccs_region {
    char *near;       /* mapped here, or null */
    uint64_t address; /* in the owner */
    size_t length;
    int owner;   /* PE */
    int32_t pid; /* of the owner, for the kernel's copy */
    uint32_t slot, generation;
    uint32_t life;       /* of the substrate, counted in this process: the object means nothing in another one */
    const uint32_t *now; /* the registration's generation at the owner */
    enum uccs_domain domain;
    uint32_t heard;           /* of memory of another node: `now`, which its owner turns by a message */
    struct uccs_region *next; /* of those */
    bool own;                 /* mine: release ends the registration */
    bool allocated;           /* mine, from the region's allocator */
};

/* UCCS_OK, or why [offset, offset + length) cannot be used: bounds, stale. */
static inline int uccs_region_check(const struct uccs_region *region, size_t offset, size_t length)
{
    if (lat_unlikely(offset > region->length || length > region->length - offset))
        return UCCS_ERR_BOUNDS;
    /* release: uccs_region_describe, uccs_region_end */
    return lat_likely(atomic_load_acquire(region->now) == region->generation) ? UCCS_OK : UCCS_ERR_STALE;
}

/* Registers memory of this process, and returns its object; null when memory or slots are exhausted. */
struct uccs_region *uccs_region_describe(void *near, size_t length, enum uccs_domain domain);

/* Ends the registration in a slot of this process. Returns the PEs that have imported it, a bit for each, to be told
 * and then freed by the caller; null when there are none. */
uint64_t *uccs_region_end(uint32_t slot);

/* False for an object of this process that was made before the last end of the substrate: its memory is gone. */
bool uccs_region_of_this_life(const struct uccs_region *region);

/* True while the registration that a peer's operation names exists. */
bool uccs_region_alive(uint32_t slot, uint32_t generation);

/* Where a PE of this node has the generation of a slot. */
uint32_t *uccs_region_generation(int owner, uint32_t slot);

/* Lists an imported object of another node, so that uccs_region_gone finds it; and takes it off the list. */
void uccs_region_expect(struct uccs_region *region);
void uccs_region_forget(const struct uccs_region *region);

/* For peers of other nodes, which name a registration by a number. find returns UCCS_OK, UCCS_ERR_BOUNDS, or
 * UCCS_ERR_STALE with a null address. imported returns false when the registration is stale, else it notes that the PE
 * is to be told of its end. gone notes that end at an importer. */
static inline uint64_t uccs_region_id(uint32_t slot, uint32_t generation)
{
    return (uint64_t)slot << 32 | generation;
}
int uccs_region_find(uint64_t id, uint64_t offset, size_t bytes, char **at);
bool uccs_region_locked(uint64_t id); /* of the locked domain; `id` has been found */
bool uccs_region_imported(uint64_t id, int pe);
void uccs_region_gone(int owner, uint64_t id);

/* At the end of a life: forgets all registrations of this process. */
void uccs_region_close(void);

/* The mapped region has two rooms. The program's has LATERAL_MEMORY bytes, for uccs_memory_allocate and the program's
 * messages on their way. The library's is for its own messages, so that they go on when the program has filled its room. */
enum uccs_room { UCCS_ROOM_PROGRAM, UCCS_ROOM_LIBRARY, UCCS_ROOMS };
#define UCCS_LIBRARY_BYTES ((size_t)64 << 20) /* address space; pages exist once touched */

/* Bytes of the program's room. */
size_t uccs_region_program_bytes(void);

/* Bytes for other parts of the substrate (staged messages): null when the room is full. */
void *uccs_region_take(enum uccs_room room, size_t length);
void uccs_region_give(void *block);

#endif
