/* Memory objects of the public interface, which are allocated, registered or imported (Schuchart et al. 2021, section 4).
 *
 * An object holds the address of its memory in this process (`near`), or, when this process does not map the memory,
 * how to reach it; so an operation does no lookup. Any thread. A caller that releases an object in use is at fault.
 *
 * Invariants: a registration's generation is odd while its memory may be imported. Release first makes it even, so
 * every later look finds it stale. A handle is believed only under its keyed hash. */
#ifndef UCCS_MEM_REGION_H
#define UCCS_MEM_REGION_H

#include "base/atomic.h"
#include "uccs/mem/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uccs.h>

struct uccs_dynamic; /* dynamic.h */

struct uccs_region {
    char *near;       /* address in this process, or null when it does not map the memory */
    uint64_t address; /* address in the owner */
    size_t length;    /* 0: dynamic memory, which has its ranges in a table */
    int owner;        /* PE */
    int32_t pid;      /* of the owner, for the kernel's copy */
    uint32_t slot, generation;
    uint32_t life;       /* number of the substrate's life in this process; in another life the object is invalid */
    const uint32_t *now; /* the registration's generation at the owner */
    enum uccs_domain domain;
    struct uccs_import *import;    /* of memory of another node, else null; `now` points there */
    bool own;                      /* this process owns the memory; release ends the registration */
    bool allocated;                /* this process has it from the region's allocator */
    bool dynamic;                  /* its ranges change; an offset is an address in the owner */
    struct uccs_dynamic *attached; /* the owner's table of them; null for memory of another node */
};

/* uccs_region_check for dynamic memory, whose length is 0, and for ranges outside of other memory (dynamic.c). */
int uccs_region_outside(const struct uccs_region *region, uint64_t offset, size_t length);

/* Returns UCCS_OK when [offset, offset + length) can be used, UCCS_ERR_BOUNDS when it is not inside of the object, or
 * UCCS_ERR_STALE when the memory has been released. */
static inline int uccs_region_check(const struct uccs_region *region, size_t offset, size_t length)
{
    if (lat_unlikely(offset > region->length || length > region->length - offset))
        return uccs_region_outside(region, offset, length);
    /* release: uccs_region_describe, uccs_region_end */
    return lat_likely(atomic_load_acquire(region->now) == region->generation) ? UCCS_OK : UCCS_ERR_STALE;
}

/* Registers memory of this process. Returns its object, or null when memory or slots are exhausted. */
struct uccs_region *uccs_region_describe(void *near, size_t length, enum uccs_domain domain);
/* Registers dynamic memory whose ranges are in the table. */
struct uccs_region *uccs_region_describe_dynamic(struct uccs_dynamic *attached);

/* Ends the registration in a slot of this process. Returns the PEs of other nodes that have imported it, a bit for
 * each, or null when there are none. The caller tells these PEs and then frees the bits. */
uint64_t *uccs_region_end(uint32_t slot);

/* Returns false when this process made the object in an earlier life of the substrate; its memory is gone then. */
bool uccs_region_of_this_life(const struct uccs_region *region);

/* Returns true while the registration that a peer's operation names exists. */
bool uccs_region_alive(uint32_t slot, uint32_t generation);

/* Returns the address of a slot's generation at a PE of this node. */
uint32_t *uccs_region_generation(int owner, uint32_t slot);

/* Peers of other nodes name a registration by a number. find returns UCCS_OK and the address, or UCCS_ERR_BOUNDS or
 * UCCS_ERR_STALE with a null address; a range that dynamic memory does not have is stale. imported returns false when the registration is stale or memory is exhausted;
 * else it notes that the PE is to be told of the registration's end. */
static inline uint64_t uccs_region_id(uint32_t slot, uint32_t generation)
{
    return (uint64_t)slot << 32 | generation;
}
int uccs_region_find(uint64_t id, uint64_t offset, size_t bytes, char **at);
/* Returns the start of a registration, and stores its length; null when it is stale, or its memory is dynamic. */
char *uccs_region_whole(uint64_t id, size_t *length);
/* Where bytes that find has found are atomic: their domain and the address that names their locks, for the first `bytes`
 * of them. */
struct uccs_region_home {
    enum uccs_domain domain;
    uint64_t address;
    size_t bytes;
};
struct uccs_region_home uccs_region_home(uint64_t id, const void *at, size_t bytes);
bool uccs_region_imported(uint64_t id, int pe);

/* Forgets all registrations of this process, at the end of a life. */
void uccs_region_close(void);

/* Registrations of other nodes: one record for all objects and keys of this process that name one. It lives while it has users, or while
 * the owner has promised to tell of the registration's end, so that the next import need not ask. Any thread. */

struct uccs_import {
    uint32_t now;    /* the registration's generation; even once the owner has told of its end */
    uint32_t claims; /* operations that the network does on it and that are under way; sequentially consistent */
    int owner;
    uint64_t id; /* uccs_region_id */
    uint32_t users;
    bool promised;
    struct uccs_import *next;
};

/* Returns the record, with one user more; null without memory. close ends a use, of null nothing. */
struct uccs_import *uccs_import_open(int owner, uint64_t id);
void uccs_import_close(struct uccs_import *import);

/* promise notes that the owner will tell of the end, unless it has done so. While is_promised returns true, the registration exists. */
void uccs_import_promise(struct uccs_import *import);
bool uccs_import_is_promised(const struct uccs_import *import);

/* Notes the end. Returns true while operations of the network on the memory are under way. */
bool uccs_import_end(int owner, uint64_t id);

static inline bool uccs_import_has_ended(const struct uccs_import *import)
{
    return !(atomic_load_seqcst(&import->now) & 1);
}

/* An operation of the network claims the memory before it starts, since the owner may release it at any time, and then must know that no
 * network reads or writes it any more. The operation adds its claim, then looks for the end; uccs_import_end notes the end, then looks at
 * the claims (both sequentially consistent), so one of the two sees the other. Returns false when the registration has ended. */
static inline void uccs_import_unclaim(struct uccs_import *import)
{
    (void)atomic_fetch_sub_seqcst(&import->claims, 1);
}

static inline bool uccs_import_claim(struct uccs_import *import)
{
    (void)atomic_fetch_add_seqcst(&import->claims, 1);
    if (lat_likely(!uccs_import_has_ended(import)))
        return true;
    uccs_import_unclaim(import);
    return false;
}

#endif
