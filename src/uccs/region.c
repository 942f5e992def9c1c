#include "uccs/region.h"

#include "base/heap.h"
#include "base/siphash.h"
#include "rte/rte.h"
#include "uccs/far.h"
#include "uccs/core/memory.h"
#include "uccs/core/own.h"
#include "uccs/rma.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rare calls: one lock for the allocator and the slots of this process. */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static struct heap *rooms[UCCS_ROOMS];
static uint32_t slots_used, slots_free[OWN_REGISTRATIONS], slots_free_count;
static uint32_t lives; /* that have ended */

/* For peers of other nodes, by slot; written before the generation makes it valid. */
static struct {
    char *at;
    size_t length;
    enum uccs_domain domain;
    uint64_t *importers; /* a bit for each PE; null: none. Under `books` */
} registered[OWN_REGISTRATIONS];

/* What I hold of other nodes; a lock that events of the transport take. */
static pthread_mutex_t imports_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uccs_region *imports;

static char *my_region(size_t *bytes)
{
    return uccs_memory_region((uint32_t)uccs_core.me - uccs_core.first, bytes);
}

size_t uccs_region_program_bytes(void)
{
    size_t bytes;
    my_region(&bytes);
    return bytes - UCCS_LIBRARY_BYTES;
}

/* The library's room lies behind the program's. */
static char *room_start(enum uccs_room room)
{
    size_t bytes;
    return my_region(&bytes) + (room == UCCS_ROOM_LIBRARY ? uccs_region_program_bytes() : 0);
}

void *uccs_region_take(enum uccs_room room, size_t length)
{
    size_t offset;
    pthread_mutex_lock(&books);
    if (!rooms[room])
        rooms[room] = heap_create(room == UCCS_ROOM_LIBRARY ? UCCS_LIBRARY_BYTES : uccs_region_program_bytes());
    int status = rooms[room] ? heap_alloc(rooms[room], length, CACHE_LINE, &offset) : HEAP_NO_BOOKS;
    pthread_mutex_unlock(&books);
    return status ? 0 : room_start(room) + offset;
}

void uccs_region_give(void *block)
{
    enum uccs_room room = (char *)block < room_start(UCCS_ROOM_LIBRARY) ? UCCS_ROOM_PROGRAM : UCCS_ROOM_LIBRARY;
    pthread_mutex_lock(&books);
    if (rooms[room]) /* else its life is over */
        heap_free(rooms[room], (size_t)((char *)block - room_start(room)));
    pthread_mutex_unlock(&books);
}

static bool take_slot(uint32_t *slot)
{
    pthread_mutex_lock(&books);
    bool room = slots_free_count || slots_used < OWN_REGISTRATIONS;
    if (room)
        *slot = slots_free_count ? slots_free[--slots_free_count] : slots_used++;
    pthread_mutex_unlock(&books);
    return room;
}

static uint32_t *generation_at(int owner, uint32_t slot)
{
    return &uccs_own_of((uint32_t)owner - uccs_core.first)->registrations[slot].generation;
}

static void give_slot(uint32_t slot)
{
    uint32_t *generation = generation_at(uccs_core.me, slot), old = *generation;
    pthread_mutex_lock(&books);
    atomic_store_release(generation, old + 1); /* even: stale to all; acquire: uccs_region_check */
    uint64_t *importers = registered[slot].importers;
    registered[slot].importers = 0;
    slots_free[slots_free_count++] = slot;
    pthread_mutex_unlock(&books);
    if (importers)
        uccs_far_memory_gone(uccs_region_id(slot, old), importers);
    free(importers);
}

void uccs_region_close(void)
{
    pthread_mutex_lock(&books);
    for (uint32_t slot = 0; slot < slots_used; slot++) {
        uint32_t *generation = generation_at(uccs_core.me, slot);
        atomic_store_release(generation, *generation + (*generation & 1));
        free(registered[slot].importers);
        registered[slot].importers = 0;
    }
    imports = 0; /* the program's, whom they serve no more */
    slots_used = slots_free_count = 0;
    for (int room = 0; room < UCCS_ROOMS; room++) {
        heap_destroy(rooms[room]);
        rooms[room] = 0;
    }
    lives++;
    pthread_mutex_unlock(&books);
}

/* An own object around memory of this process; null when there is no room for another. */
static struct uccs_region *describe(void *near, size_t length, enum uccs_domain domain)
{
    struct uccs_region *region = malloc(sizeof *region);
    uint32_t slot;
    if (!region || !take_slot(&slot)) {
        free(region);
        return 0;
    }
    uint32_t *generation = generation_at(uccs_core.me, slot);
    *region = (struct uccs_region){.near = near,
                                   .address = (uintptr_t)near,
                                   .length = length,
                                   .owner = uccs_core.me,
                                   .pid = getpid(),
                                   .slot = slot,
                                   .generation = *generation + 1,
                                   .life = lives,
                                   .domain = domain,
                                   .own = true};
    region->now = generation;
    registered[slot].at = near;
    registered[slot].length = length;
    registered[slot].domain = domain;
    atomic_store_release(generation, region->generation); /* acquire: uccs_region_check, uccs_region_alive */
    return region;
}

/* --- For peers of other nodes */

int uccs_region_find(uint64_t id, uint64_t offset, size_t bytes, char **at)
{
    uint32_t slot = (uint32_t)(id >> 32);
    *at = 0;
    if (!uccs_region_alive(slot, (uint32_t)id))
        return UCCS_ERR_STALE;
    if (offset > registered[slot].length || bytes > registered[slot].length - offset)
        return UCCS_ERR_BOUNDS;
    *at = registered[slot].at + offset;
    return UCCS_OK;
}

bool uccs_region_locked(uint64_t id)
{
    return registered[id >> 32].domain == UCCS_DOMAIN_LOCKED;
}

bool uccs_region_imported(uint64_t id, int pe)
{
    uint32_t slot = (uint32_t)(id >> 32);
    pthread_mutex_lock(&books);
    bool alive = uccs_region_alive(slot, (uint32_t)id);
    if (alive && !registered[slot].importers)
        registered[slot].importers = calloc(((size_t)uccs_core.npes + 63) / 64, sizeof(uint64_t));
    alive = alive && registered[slot].importers;
    if (alive)
        registered[slot].importers[pe / 64] |= UINT64_C(1) << pe % 64;
    pthread_mutex_unlock(&books);
    return alive;
}

void uccs_region_gone(int owner, uint64_t id)
{
    pthread_mutex_lock(&imports_lock);
    for (struct uccs_region *at = imports; at; at = at->next)
        if (at->owner == owner && uccs_region_id(at->slot, at->generation) == id)
            atomic_store_release(&at->heard, at->generation + 1); /* acquire: uccs_region_check */
    pthread_mutex_unlock(&imports_lock);
}

/* Listed before the owner is asked, so that its word is not missed. */
static int import_far(struct uccs_region *region)
{
    region->heard = region->generation;
    region->now = &region->heard;
    pthread_mutex_lock(&imports_lock);
    region->next = imports;
    imports = region;
    pthread_mutex_unlock(&imports_lock);
    bool alive = uccs_far_import(region->owner, uccs_region_id(region->slot, region->generation));
    return alive ? UCCS_OK : UCCS_ERR_STALE;
}

static void forget_far(const struct uccs_region *region)
{
    pthread_mutex_lock(&imports_lock);
    struct uccs_region **at = &imports;
    while (*at && *at != region)
        at = &(*at)->next;
    if (*at)
        *at = region->next;
    pthread_mutex_unlock(&imports_lock);
}

int uccs_memory_allocate(uccs_context_t context, size_t length, uccs_memory_t *memory)
{
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!context || !memory || length == 0)
        return UCCS_ERR_INVALID;
    void *block = uccs_region_take(UCCS_ROOM_PROGRAM, length);
    if (!block)
        return UCCS_ERR_NO_MEMORY;
    memset(block, 0, length);
    struct uccs_region *region = describe(block, length, UCCS_DOMAIN_CPU);
    if (!region) {
        uccs_region_give(block);
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
    if (!context || !memory || !address || length == 0 || (uintptr_t)address + length < (uintptr_t)address)
        return UCCS_ERR_INVALID;
    size_t first, last;
    bool mapped = uccs_memory_find(address, &first) != UCCS_NOWHERE &&
                  uccs_memory_find((char *)address + length - 1, &last) != UCCS_NOWHERE && last - first == length - 1;
    if (!mapped)
        uccs_kernel_offer();
    struct uccs_region *region = describe(address, length, mapped ? UCCS_DOMAIN_CPU : UCCS_DOMAIN_LOCKED);
    if (!region)
        return UCCS_ERR_NO_MEMORY;
    *memory = region;
    return UCCS_OK;
}

/* What travels. Where the memory is for a node peer: segment and offset, or an address of the owner. */
struct handle {
    uint64_t magic;
    uint64_t where; /* offset in the segment, or the owner's address */
    uint64_t length;
    uint64_t address;
    int32_t owner, pid;
    uint32_t slot, generation;
    uint32_t segment, domain;
    uint64_t hash; /* over all before, keyed by the job */
};
_Static_assert(sizeof(struct handle) <= UCCS_MEMORY_HANDLE_MAX, "a handle fits");

#define HANDLE_MAGIC 0x4c61744d656d3031u
enum { IN_REGION = 16, UNMAPPED = 17 }; /* besides enum uccs_segment */

static uint64_t hash_of(const struct handle *handle)
{
    return siphash(rte.node->nonce, handle, offsetof(struct handle, hash));
}

static void locate(const struct uccs_region *region, struct handle *handle)
{
    size_t bytes, offset;
    char *base = my_region(&bytes);
    handle->segment = uccs_memory_find(region->near, &offset);
    handle->where = offset;
    if (handle->segment == UCCS_NOWHERE) {
        bool inside = region->near >= base && region->near < base + bytes;
        handle->segment = inside ? IN_REGION : UNMAPPED;
        handle->where = inside ? (uint64_t)(region->near - base) : region->address;
    }
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
    locate(memory, &made);
    made.hash = hash_of(&made);
    memcpy(handle, &made, sizeof made);
    *length = sizeof made;
    return UCCS_OK;
}

/* The map of a peer's memory here; null when it has none. */
static char *near_of(const struct handle *handle)
{
    size_t bytes;
    uint32_t index = (uint32_t)handle->owner - uccs_core.first;
    switch (handle->segment) {
    case UCCS_HEAP: return (char *)uccs_core.heap_peers + index * uccs_core.heap_stride + handle->where;
    case UCCS_IMAGE: return uccs_memory_image(index) + handle->where;
    case IN_REGION: return uccs_memory_region(index, &bytes) + handle->where;
    default: return handle->owner == uccs_core.me ? (char *)(uintptr_t)handle->where : 0;
    }
}

int uccs_memory_import(uccs_context_t context, const void *handle, size_t length, uccs_memory_t *memory)
{
    struct handle given;
    if (!uccs_running())
        return UCCS_ERR_STATE;
    if (!context || !handle || !memory)
        return UCCS_ERR_INVALID;
    if (length != sizeof given)
        return UCCS_ERR_FORGED;
    memcpy(&given, handle, sizeof given);
    if (given.magic != HANDLE_MAGIC || given.hash != hash_of(&given) || given.slot >= OWN_REGISTRATIONS)
        return UCCS_ERR_FORGED;
    bool far = uccs_far_pe(given.owner);
    if (!far && (uint32_t)given.owner - uccs_core.first >= uccs_core.size)
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
                                   .domain = (enum uccs_domain)given.domain};
    if (!far)
        region->now = generation_at(given.owner, given.slot);
    int status = far ? import_far(region) : uccs_region_check(region, 0, region->length);
    if (status != UCCS_OK) {
        forget_far(region);
        free(region);
        return status;
    }
    *memory = region;
    return UCCS_OK;
}

bool uccs_region_alive(uint32_t slot, uint32_t generation)
{
    return slot < OWN_REGISTRATIONS && atomic_load_acquire(generation_at(uccs_core.me, slot)) == generation;
}

int uccs_memory_release(uccs_memory_t memory)
{
    if (!memory)
        return UCCS_ERR_INVALID;
    /* The end of a life has released what was registered and allocated in it. A new life may have new memory in the
     * node, whose generations start again, so the generation alone does not tell. */
    bool mine = memory->own && uccs_running() && memory->life == lives;
    if (mine && uccs_region_alive(memory->slot, memory->generation))
        give_slot(memory->slot);
    if (mine && memory->allocated)
        uccs_region_give(memory->near);
    if (memory->now == &memory->heard)
        forget_far(memory);
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
