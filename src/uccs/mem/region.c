#include "uccs/mem/region.h"

#include "uccs/core/pe_shared.h"
#include "uccs/mem/arena.h"
#include "uccs/mem/dynamic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHAINS 256

/* Events of the transport take the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct uccs_import *imports[CHAINS]; /* under the lock */

/* Under the lock. Returns the place of the pointer to the record, or to null. */
static struct uccs_import **import_at(int owner, uint64_t id)
{
    struct uccs_import **at = &imports[(id >> 32 ^ id ^ (uint64_t)owner) % CHAINS];
    while (*at && ((*at)->id != id || (*at)->owner != owner))
        at = &(*at)->next;
    return at;
}

struct uccs_import *uccs_import_open(int owner, uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct uccs_import **at = import_at(owner, id);
    if (!*at && (*at = malloc(sizeof **at)))
        **at = (struct uccs_import){.now = (uint32_t)id, .owner = owner, .id = id};
    struct uccs_import *import = *at;
    if (import)
        import->users++;
    pthread_mutex_unlock(&lock);
    return import;
}

/* Under the lock. A record of an earlier life is not in the table. */
static void drop_unused(struct uccs_import *import)
{
    struct uccs_import **at = import_at(import->owner, import->id);
    if (import->users || import->promised)
        return;
    if (*at == import)
        *at = import->next;
    free(import);
}

void uccs_import_close(struct uccs_import *import)
{
    if (!import)
        return;
    pthread_mutex_lock(&lock);
    import->users--;
    drop_unused(import);
    pthread_mutex_unlock(&lock);
}

bool uccs_import_is_promised(const struct uccs_import *import)
{
    pthread_mutex_lock(&lock);
    const bool promised = import->promised;
    pthread_mutex_unlock(&lock);
    return promised;
}

void uccs_import_promise(struct uccs_import *import)
{
    pthread_mutex_lock(&lock);
    import->promised = !uccs_import_has_ended(import); /* the end may have been told meanwhile */
    pthread_mutex_unlock(&lock);
}

bool uccs_import_end(int owner, uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct uccs_import *import = *import_at(owner, id);
    bool busy = false;
    if (import) {
        atomic_store_seqcst(&import->now, (uint32_t)id + 1); /* acquire: uccs_region_check; seqcst: uccs_import_claim */
        busy = atomic_load_seqcst(&import->claims);
        import->promised = false;
        drop_unused(import);
    }
    pthread_mutex_unlock(&lock);
    return busy;
}

static void uccs_import_forget_all(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++)
        while (imports[i]) {
            struct uccs_import *import = imports[i];
            imports[i] = import->next;
            import->promised = false;
            if (!import->users)
                free(import);
        }
    pthread_mutex_unlock(&lock);
}

/* Guards the slots of this process. Calls are rare. */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slots_used, slots_free; /* slots_free: 1 + the first slot of the list of free ones, or 0 */
static uint32_t lives;                  /* number of lives that have ended */

/* Peers of other nodes use these entries, one per slot. An entry is written before the generation makes it valid.
 * Entries come in chunks, which stay until the process ends. */
#define CHUNK 4096
struct entry {
    char *at;
    size_t length;
    enum uccs_domain domain;
    struct uccs_dynamic *attached; /* of dynamic memory; else null */
    uint64_t *importers;           /* a bit for each PE; null: no PE. Under `books` */
    uint32_t next_free;            /* of a free slot: 1 + the next free slot, or 0. Under `books` */
};
static struct entry *chunks[PE_SHARED_REGISTRATIONS / CHUNK]; /* published by the generations of their slots */

static struct entry *entry_of(uint32_t slot)
{
    return &chunks[slot / CHUNK][slot % CHUNK];
}

/* Under `books`. Returns false when all slots are in use, or when memory is exhausted. */
static bool take_new_slot(uint32_t *slot)
{
    if (slots_used == PE_SHARED_REGISTRATIONS)
        return false;
    struct entry **chunk = &chunks[slots_used / CHUNK];
    if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk)))
        return false;
    *slot = slots_used++;
    return true;
}

/* Returns false when there is no slot. */
static bool take_slot(uint32_t *slot)
{
    pthread_mutex_lock(&books);
    bool old = slots_free != 0;
    if (old) {
        *slot = slots_free - 1;
        slots_free = entry_of(*slot)->next_free;
    }
    bool taken = old || take_new_slot(slot);
    pthread_mutex_unlock(&books);
    return taken;
}

uint32_t *uccs_region_generation(int owner, uint32_t slot)
{
    return &uccs_pe_shared_of(uccs_index(owner))->registrations[slot].generation;
}

uint64_t *uccs_region_end(uint32_t slot)
{
    uint32_t *generation = uccs_region_generation(uccs_core.me, slot);
    pthread_mutex_lock(&books);
    atomic_store_release(generation, *generation + 1); /* even, so stale to all; acquire: uccs_region_check */
    struct entry *entry = entry_of(slot);
    uint64_t *importers = entry->importers;
    entry->importers = 0;
    entry->next_free = slots_free;
    slots_free = slot + 1;
    pthread_mutex_unlock(&books);
    return importers;
}

void uccs_region_close(void)
{
    pthread_mutex_lock(&books);
    for (uint32_t slot = 0; slot < slots_used; slot++) {
        uint32_t *generation = uccs_region_generation(uccs_core.me, slot);
        atomic_store_release(generation, *generation + (*generation & 1));
        free(entry_of(slot)->importers);
        entry_of(slot)->importers = 0;
    }
    slots_used = slots_free = 0;
    lives++;
    pthread_mutex_unlock(&books);
    uccs_import_forget_all();
    uccs_arena_close();
}

bool uccs_region_of_this_life(const struct uccs_region *region)
{
    return region->life == lives;
}

/* Registers what `entry` says. Returns the object, or null. */
static struct uccs_region *describe_region(const struct entry *what)
{
    struct uccs_region *region = malloc(sizeof *region);
    uint32_t slot;
    if (!region || !take_slot(&slot)) {
        free(region);
        return 0;
    }
    uint32_t *generation = uccs_region_generation(uccs_core.me, slot);
    *region = (struct uccs_region){.near = what->at,
                                   .address = (uintptr_t)what->at,
                                   .length = what->length,
                                   .owner = uccs_core.me,
                                   .pid = getpid(),
                                   .slot = slot,
                                   .generation = *generation + 1,
                                   .life = lives,
                                   .domain = what->domain,
                                   .own = true,
                                   .dynamic = what->attached != 0,
                                   .attached = what->attached};
    region->now = generation;
    *entry_of(slot) = *what;
    atomic_store_release(generation, region->generation); /* acquire: uccs_region_check, uccs_region_alive */
    return region;
}

struct uccs_region *uccs_region_describe(void *near, size_t length, enum uccs_domain domain)
{
    return describe_region(&(struct entry){.at = near, .length = length, .domain = domain});
}

struct uccs_region *uccs_region_describe_dynamic(struct uccs_dynamic *attached)
{
    return describe_region(&(struct entry){.domain = UCCS_DOMAIN_LOCKED, .attached = attached});
}

bool uccs_region_alive(uint32_t slot, uint32_t generation)
{
    return slot < PE_SHARED_REGISTRATIONS && generation & 1 &&
           atomic_load_acquire(uccs_region_generation(uccs_core.me, slot)) == generation;
}

/* --- For peers of other nodes */

int uccs_region_find(uint64_t id, uint64_t offset, size_t bytes, char **at)
{
    uint32_t slot = (uint32_t)(id >> 32);
    *at = 0;
    if (!uccs_region_alive(slot, (uint32_t)id))
        return UCCS_ERR_STALE;
    const struct entry *entry = entry_of(slot);
    if (entry->attached && !uccs_dynamic_covers(entry->attached, uccs_core.me, offset, bytes))
        return UCCS_ERR_STALE;
    if (!entry->attached && (offset > entry->length || bytes > entry->length - offset))
        return UCCS_ERR_BOUNDS;
    *at = (char *)((uintptr_t)entry->at + offset); /* dynamic memory begins at address 0 */
    return UCCS_OK;
}

char *uccs_region_whole(uint64_t id, size_t *length)
{
    const uint32_t slot = (uint32_t)(id >> 32);
    const struct entry *entry = uccs_region_alive(slot, (uint32_t)id) ? entry_of(slot) : 0;
    if (!entry || entry->attached)
        return 0;
    *length = entry->length;
    return entry->at;
}

struct uccs_region_home uccs_region_home(uint64_t id, const void *at, size_t bytes)
{
    const struct entry *entry = entry_of((uint32_t)(id >> 32));
    struct uccs_dynamic_piece piece;
    if (!entry->attached)
        return (struct uccs_region_home){entry->domain, (uintptr_t)at, bytes};
    if (uccs_dynamic_find(entry->attached, uccs_core.me, (uintptr_t)at, bytes, &piece) != UCCS_OK)
        return (struct uccs_region_home){UCCS_DOMAIN_LOCKED, (uintptr_t)at, bytes}; /* detached meanwhile */
    return (struct uccs_region_home){piece.mapped ? UCCS_DOMAIN_CPU : UCCS_DOMAIN_LOCKED, (uintptr_t)at, piece.bytes};
}

bool uccs_region_imported(uint64_t id, int pe)
{
    uint32_t slot = (uint32_t)(id >> 32);
    pthread_mutex_lock(&books);
    bool alive = uccs_region_alive(slot, (uint32_t)id);
    struct entry *entry = alive ? entry_of(slot) : 0;
    if (alive && !entry->importers)
        entry->importers = calloc(((size_t)uccs_core.npes + 63) / 64, sizeof(uint64_t));
    alive = alive && entry->importers;
    if (alive)
        entry->importers[pe / 64] |= UINT64_C(1) << pe % 64;
    pthread_mutex_unlock(&books);
    return alive;
}
