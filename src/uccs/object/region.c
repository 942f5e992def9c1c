#include "uccs/object/region.h"

#include "base/heap.h"
#include "uccs/core/memory.h"
#include "uccs/core/own.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One lock guards the allocator and the slots of this process, since calls are rare. */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static struct heap *rooms[UCCS_ROOMS];
static uint32_t slots_used, slots_free[OWN_REGISTRATIONS], slots_free_count;
static uint32_t lives; /* number of lives that have ended */

/* Peers of other nodes use these entries, one per slot. An entry is written before the generation makes it valid. */
static struct {
    char *at;
    size_t length;
    enum uccs_domain domain;
    uint64_t *importers; /* a bit for each PE; null: no PE. Under `books` */
} registered[OWN_REGISTRATIONS];

/* The objects of other nodes' memory that this process has imported. Events of the transport take the lock. */
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
    if (rooms[room]) /* null: the life of the block is over */
        heap_free(rooms[room], (size_t)((char *)block - room_start(room)));
    pthread_mutex_unlock(&books);
}

/* Returns false when all slots are in use. */
static bool take_slot(uint32_t *slot)
{
    pthread_mutex_lock(&books);
    bool room = slots_free_count || slots_used < OWN_REGISTRATIONS;
    if (room)
        *slot = slots_free_count ? slots_free[--slots_free_count] : slots_used++;
    pthread_mutex_unlock(&books);
    return room;
}

uint32_t *uccs_region_generation(int owner, uint32_t slot)
{
    return &uccs_own_of((uint32_t)owner - uccs_core.first)->registrations[slot].generation;
}

uint64_t *uccs_region_end(uint32_t slot)
{
    uint32_t *generation = uccs_region_generation(uccs_core.me, slot);
    pthread_mutex_lock(&books);
    atomic_store_release(generation, *generation + 1); /* even, so stale to all; acquire: uccs_region_check */
    uint64_t *importers = registered[slot].importers;
    registered[slot].importers = 0;
    slots_free[slots_free_count++] = slot;
    pthread_mutex_unlock(&books);
    return importers;
}

void uccs_region_close(void)
{
    pthread_mutex_lock(&books);
    for (uint32_t slot = 0; slot < slots_used; slot++) {
        uint32_t *generation = uccs_region_generation(uccs_core.me, slot);
        atomic_store_release(generation, *generation + (*generation & 1));
        free(registered[slot].importers);
        registered[slot].importers = 0;
    }
    imports = 0; /* the objects are the program's and stay; they are of no use after this life */
    slots_used = slots_free_count = 0;
    for (int room = 0; room < UCCS_ROOMS; room++) {
        heap_destroy(rooms[room]);
        rooms[room] = 0;
    }
    lives++;
    pthread_mutex_unlock(&books);
}

bool uccs_region_of_this_life(const struct uccs_region *region)
{
    return region->life == lives;
}

struct uccs_region *uccs_region_describe(void *near, size_t length, enum uccs_domain domain)
{
    struct uccs_region *region = malloc(sizeof *region);
    uint32_t slot;
    if (!region || !take_slot(&slot)) {
        free(region);
        return 0;
    }
    uint32_t *generation = uccs_region_generation(uccs_core.me, slot);
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

bool uccs_region_alive(uint32_t slot, uint32_t generation)
{
    return slot < OWN_REGISTRATIONS && atomic_load_acquire(uccs_region_generation(uccs_core.me, slot)) == generation;
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

void uccs_region_expect(struct uccs_region *region)
{
    region->heard = region->generation;
    region->now = &region->heard;
    pthread_mutex_lock(&imports_lock);
    region->next = imports;
    imports = region;
    pthread_mutex_unlock(&imports_lock);
}

void uccs_region_forget(const struct uccs_region *region)
{
    pthread_mutex_lock(&imports_lock);
    struct uccs_region **at = &imports;
    while (*at && *at != region)
        at = &(*at)->next;
    if (*at)
        *at = region->next;
    pthread_mutex_unlock(&imports_lock);
}
