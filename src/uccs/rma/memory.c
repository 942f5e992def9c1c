/* Allocates, registers, imports by handle and releases memory objects of the public interface. mem/region.h defines
 * the object. Any thread. */
#include "base/siphash.h"
#include "rte/rte.h"
#include "uccs/core/memory.h"
#include "uccs/core/pe_shared.h"
#include "uccs/proto/initiator.h"
#include "uccs/mem/dynamic.h"
#include "uccs/rma/inner.h"

#include <stdlib.h>
#include <string.h>

int uccs_memory_allocate(uccs_context_t context, size_t length, uccs_memory_t *memory)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    (void)context;
    if (!memory || length == 0)
        return UCCS_ERR_INVALID;
    void *block = uccs_arena_take_zeroed(length);
    if (!block)
        return UCCS_ERR_NO_MEMORY;
    struct uccs_region *region = uccs_region_describe(block, length, UCCS_DOMAIN_CPU);
    if (!region) {
        uccs_arena_give(block);
        return UCCS_ERR_NO_MEMORY;
    }
    region->allocated = true;
    *memory = region;
    return UCCS_OK;
}

int uccs_memory_register(uccs_context_t context, void *address, size_t length, uccs_memory_t *memory)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    (void)context;
    if (!memory || !address || length == 0 || (uintptr_t)address + length < (uintptr_t)address)
        return UCCS_ERR_INVALID;
    uint64_t where;
    bool mapped = uccs_segment_locate(address, length, &where) != UCCS_UNMAPPED;
    if (!mapped && uccs_segment_maps_partly(address, length))
        return UCCS_ERR_INVALID;
    if (!mapped)
        uccs_cma_offer();
    struct uccs_region *region = uccs_region_describe(address, length, mapped ? UCCS_DOMAIN_CPU : UCCS_DOMAIN_LOCKED);
    if (!region)
        return UCCS_ERR_NO_MEMORY;
    *memory = region;
    return UCCS_OK;
}

/* --- Dynamic memory. Its object's address is 0, so that an offset is an address there too */

int uccs_memory_dynamic(uccs_context_t context, uccs_memory_t *memory)
{
    (void)context;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!memory)
        return UCCS_ERR_INVALID;
    struct uccs_dynamic *table = uccs_dynamic_create();
    if (!table)
        return UCCS_ERR_NO_MEMORY;
    uccs_cma_offer(); /* before any peer looks for it, as each looks once */
    struct uccs_region *region = uccs_region_describe_dynamic(table);
    if (!region) {
        uccs_dynamic_destroy(table);
        return UCCS_ERR_NO_MEMORY;
    }
    *memory = region;
    return UCCS_OK;
}

/* Returns true for dynamic memory of this process that its present life has. */
static bool is_mine(const struct uccs_region *memory)
{
    return memory && memory->own && memory->dynamic && uccs_region_of_this_life(memory);
}

int uccs_memory_attach(uccs_memory_t memory, void *address, size_t length)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!is_mine(memory) || !address || length == 0 || (uintptr_t)address + length < (uintptr_t)address)
        return UCCS_ERR_INVALID;
    return uccs_dynamic_add(memory->attached, address, length);
}

int uccs_memory_view(uccs_memory_t memory, size_t offset, struct uccs_view *view)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!memory || !view || !memory->attached || uccs_far_pe(memory->owner) || !uccs_region_of_this_life(memory))
        return UCCS_ERR_INVALID;
    if (atomic_load_acquire(memory->now) != memory->generation) /* release: uccs_region_end */
        return UCCS_ERR_STALE;
    return uccs_dynamic_view(memory->attached, memory->owner, offset, view);
}

int uccs_memory_detach(uccs_memory_t memory, void *address)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    return is_mine(memory) ? uccs_dynamic_remove(memory->attached, address) : UCCS_ERR_INVALID;
}

/* --- Handles */

/* The content of a handle. A node peer finds the memory by segment and offset, or by an address of the owner. */
struct handle {
    uint64_t magic;
    uint64_t where; /* offset in the segment, or the owner's address */
    uint64_t length;
    uint64_t address;
    int32_t owner, pid;
    uint32_t slot, generation;
    uint32_t segment, domain;
    uint64_t hash; /* over all fields before it, keyed by the job */
};
_Static_assert(sizeof(struct handle) <= UCCS_MEMORY_HANDLE_MAX, "a handle fits");

#define HANDLE_MAGIC 0x4c61744d656d3031u
enum { DYNAMIC = 18 }; /* besides the segments of region.h: `where` is the place of the table in the owner's region */

static uint64_t hash_of(const struct handle *handle)
{
    return siphash(rte.node->nonce, handle, offsetof(struct handle, hash));
}

static void locate_memory(const struct uccs_region *region, struct handle *handle)
{
    uint64_t where;
    const void *start = region->dynamic ? (const void *)region->attached : region->near;
    uint32_t segment = uccs_segment_locate(start, region->dynamic ? 1 : region->length, &where);
    handle->segment = region->dynamic ? DYNAMIC : segment;
    handle->where = segment == UCCS_UNMAPPED ? region->address : where;
}

int uccs_memory_export(uccs_memory_t memory, void *handle, size_t *length)
{
    if (!memory || !memory->own || !handle || !length || *length < sizeof(struct handle))
        return UCCS_ERR_INVALID;
    struct handle made = {.magic = HANDLE_MAGIC,
                          .length = memory->length,
                          .address = memory->address,
                          .owner = memory->owner,
                          .pid = memory->pid,
                          .slot = memory->slot,
                          .generation = memory->generation,
                          .domain = memory->domain};
    locate_memory(memory, &made);
    made.hash = hash_of(&made);
    memcpy(handle, &made, sizeof made);
    *length = sizeof made;
    return UCCS_OK;
}

/* Returns the address at which a peer's memory is mapped here; null when it is not mapped. */
static char *near_of(const struct handle *handle)
{
    bool mine = handle->owner == uccs_core.me && handle->segment == UCCS_UNMAPPED;
    return mine ? (char *)(uintptr_t)handle->where : uccs_segment_near(handle->owner, handle->segment, handle->where);
}

/* Returns the table of a peer's dynamic memory; null for other memory. */
static struct uccs_dynamic *table_of(const struct handle *handle)
{
    return handle->segment == DYNAMIC
               ? (struct uccs_dynamic *)uccs_segment_near(handle->owner, UCCS_IN_REGION, handle->where)
               : 0;
}

/* Opens the record before it asks the owner, so that the record is told when the memory is released meanwhile. */
static int import_far(struct uccs_region *region)
{
    const uint64_t id = uccs_region_id(region->slot, region->generation);
    if (!(region->import = uccs_import_open(region->owner, id)))
        return UCCS_ERR_NO_MEMORY;
    region->now = &region->import->now;
    if (uccs_import_is_promised(region->import))
        return UCCS_OK;
    if (!proto_import(region->owner, id))
        return UCCS_ERR_STALE;
    uccs_import_promise(region->import);
    return UCCS_OK;
}

int uccs_memory_import(uccs_context_t context, const void *handle, size_t length, uccs_memory_t *memory)
{
    struct handle given;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    (void)context;
    if (!handle || !memory)
        return UCCS_ERR_INVALID;
    if (length != sizeof given)
        return UCCS_ERR_FORGED;
    memcpy(&given, handle, sizeof given);
    if (given.magic != HANDLE_MAGIC || given.hash != hash_of(&given) || given.slot >= PE_SHARED_REGISTRATIONS)
        return UCCS_ERR_FORGED;
    bool far = uccs_far_pe(given.owner);
    if (!far && uccs_index(given.owner) >= uccs_core.pes)
        return UCCS_ERR_UNREACHABLE;
    struct uccs_region *region = malloc(sizeof *region);
    if (!region)
        return UCCS_ERR_NO_MEMORY;
    *region = (struct uccs_region){.near = far ? 0 : near_of(&given),
                                   .address = given.address,
                                   .length = given.length,
                                   .owner = given.owner,
                                   .pid = given.pid,
                                   .slot = given.slot,
                                   .generation = given.generation,
                                   .domain = (enum uccs_domain)given.domain,
                                   .dynamic = given.segment == DYNAMIC,
                                   .attached = far ? 0 : table_of(&given)};
    if (!far)
        region->now = uccs_region_generation(given.owner, given.slot);
    int status = far ? import_far(region) : uccs_region_check(region, 0, region->length);
    if (status != UCCS_OK) {
        uccs_import_close(region->import);
        free(region);
        return status;
    }
    *memory = region;
    return UCCS_OK;
}

/* Returns when all importers of other nodes have been told. */
static void end_registration(const struct uccs_region *memory)
{
    uint64_t *importers = uccs_region_end(memory->slot);
    if (importers)
        proto_memory_invalidate(uccs_region_id(memory->slot, memory->generation), importers);
    free(importers);
}

int uccs_memory_release(uccs_memory_t memory)
{
    if (!memory)
        return UCCS_ERR_INVALID;
    /* The end of a life has released what was registered and allocated in it. A new life may have new memory in the
     * node, whose generations start again, so the generation alone does not identify it. */
    bool mine = memory->own && uccs_running() && uccs_region_of_this_life(memory);
    if (mine && uccs_region_alive(memory->slot, memory->generation))
        end_registration(memory);
    if (mine && memory->allocated)
        uccs_arena_give(memory->near);
    if (mine && memory->dynamic)
        uccs_dynamic_destroy(memory->attached);
    uccs_import_close(memory->import);
    free(memory);
    return UCCS_OK;
}

int uccs_memory_query(uccs_memory_t memory, struct uccs_memory_attr *attr)
{
    if (!memory || !attr)
        return UCCS_ERR_INVALID;
    *attr = (struct uccs_memory_attr){.address = memory->near,
                                      .length = memory->length,
                                      .owner = memory->owner,
                                      .domain = memory->domain};
    return UCCS_OK;
}
