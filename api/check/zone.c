/* Heap blocks between red zones. Each block of the program lies in a larger one of the library, with ZONE_BYTES of a
 * pattern on both sides, which are looked at when the block is freed and in barriers. The register knows the block's exact
 * size, and where it was allocated.
 *
 * A block that does not fit with its zones is one of the library, without zones and not in the register. One lock; the
 * blocks are sorted by address. */
#include "rules.h"
#include "base/where.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ZONE_BYTES 64u
#define ZONE_PATTERN 0xa5u
#define FREED 256

struct zone_block {
    uintptr_t start;
    size_t bytes, front; /* front: of the zone before it */
    uint64_t place;
    const char *call;
    unsigned long number; /* counts allocations; the same at all PEs */
};

static struct zone_block *blocks;
static size_t count, room;
static unsigned long made;
static struct zone_block freed[FREED]; /* the last ones, to tell a second free */
static size_t freed_at;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t zone_back(const struct zone_block *block)
{
    return (block->bytes + 15) / 16 * 16 - block->bytes + ZONE_BYTES;
}

/* Returns the number of blocks that begin at or before the address. */
static size_t zone_upper(uintptr_t at)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (blocks[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void zone_paint(uintptr_t at, size_t bytes)
{
    memset((void *)at, ZONE_PATTERN, bytes);
    lat_check_forbid((void *)at, bytes);
}

static void zone_add(struct zone_block block)
{
    pthread_mutex_lock(&lock);
    if (count == room) {
        room = room ? 2 * room : 64;
        blocks = realloc(blocks, room * sizeof *blocks);
        if (!blocks)
            lat_check_fail("the checking layer", "memory", "exhausted");
    }
    block.number = ++made;
    size_t at = zone_upper(block.start);
    memmove(blocks + at + 1, blocks + at, (count++ - at) * sizeof *blocks);
    blocks[at] = block;
    for (size_t i = 0; i < FREED; i++)
        if (freed[i].start == block.start)
            freed[i].start = 0;
    pthread_mutex_unlock(&lock);
}

static void *zone_register(char *raw, const char *call, const void *from, size_t front, size_t bytes)
{
    struct zone_block block = {(uintptr_t)raw + front, bytes, front, where_of(from), call, 0};
    zone_paint((uintptr_t)raw, front);
    zone_paint(block.start + bytes, zone_back(&block));
    zone_add(block);
    return raw + front;
}

static bool zone_total(size_t front, size_t bytes, size_t *total)
{
    struct zone_block block = {.bytes = bytes};
    return !__builtin_add_overflow(bytes, front + ZONE_BYTES + 16, total) &&
           (*total = front + bytes + zone_back(&block));
}

/* Returns the library's block, or null without a line: then the program gets one without zones. */
static void *zone_alloc(bool clear, size_t alignment, size_t bytes, long hints)
{
    lat_check_allocates("", 0);
    void *raw = clear       ? pshmem_calloc(1, bytes)
                : alignment ? pshmem_align(alignment, bytes)
                            : pshmem_malloc_with_hints(bytes, hints);
    lat_check_allocates(NULL, 0);
    return raw;
}

void *check_zone_malloc(const char *call, const void *from, size_t bytes, long hints)
{
    size_t total;
    char *raw = NULL;
    if (bytes && zone_total(ZONE_BYTES, bytes, &total))
        raw = zone_alloc(false, 0, total, hints);
    if (raw)
        return zone_register(raw, call, from, ZONE_BYTES, bytes);
    lat_check_allocates(call, bytes);
    void *plain = pshmem_malloc_with_hints(bytes, hints);
    lat_check_allocates(NULL, 0);
    return plain;
}

void *check_zone_calloc(const char *call, const void *from, size_t number, size_t size)
{
    size_t total, bytes;
    char *raw = NULL;
    if (!__builtin_mul_overflow(number, size, &bytes) && bytes && zone_total(ZONE_BYTES, bytes, &total))
        raw = zone_alloc(true, 0, total, 0);
    return raw ? zone_register(raw, call, from, ZONE_BYTES, bytes) : pshmem_calloc(number, size);
}

void *check_zone_align(const char *call, const void *from, size_t alignment, size_t bytes)
{
    size_t front = alignment > ZONE_BYTES ? alignment : ZONE_BYTES, total;
    char *raw = NULL;
    if (alignment && !(alignment & (alignment - 1)) && bytes && zone_total(front, bytes, &total))
        raw = zone_alloc(false, front, total, 0);
    return raw ? zone_register(raw, call, from, front, bytes) : pshmem_align(alignment, bytes);
}

/* Looks for bytes that are not the pattern's. These loops call no memcmp, which sanitizers watch. */
__attribute__((no_sanitize("address"))) static size_t zone_good(uintptr_t at, size_t bytes)
{
    const volatile unsigned char *byte = (const volatile unsigned char *)at;
    size_t good = 0;
    while (good < bytes && byte[good] == ZONE_PATTERN)
        good++;
    return good;
}

__attribute__((no_sanitize("address"))) static size_t zone_bad(uintptr_t at, size_t bytes)
{
    const volatile unsigned char *byte = (const volatile unsigned char *)at;
    size_t last = 0;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i] != ZONE_PATTERN)
            last = i + 1;
    return last;
}

static void zone_verify(const char *call, const struct zone_block *block, uintptr_t zone, size_t bytes)
{
    char where[128];
    size_t good = zone_good(zone, bytes);
    if (good == bytes)
        return;
    size_t last = zone_bad(zone, bytes);
    where_write_at(block->place, where, sizeof where);
    lat_check_fail(call, "heap block overrun", "%zu bytes at offset %ld of the block of %zu bytes at %p, from %s%s",
                   last - good, (long)(zone + good - block->start), block->bytes, (void *)block->start, block->call,
                   where);
}

static void zone_look(const char *call, const struct zone_block *block)
{
    zone_verify(call, block, block->start - block->front, block->front);
    zone_verify(call, block, block->start + block->bytes, zone_back(block));
}

void check_zones(const char *call)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        zone_look(call, &blocks[i]);
    pthread_mutex_unlock(&lock);
}

/* Copies the block around an address, with its zones. Returns false when there is none. */
static bool zone_find(const void *at, struct zone_block *block)
{
    uintptr_t address = (uintptr_t)at;
    bool found = false;
    pthread_mutex_lock(&lock);
    size_t i = zone_upper(address);
    if (i && address < blocks[i - 1].start + blocks[i - 1].bytes + zone_back(&blocks[i - 1])) {
        *block = blocks[i - 1];
        found = true;
    } else if (i < count && address >= blocks[i].start - blocks[i].front) {
        *block = blocks[i];
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool check_zone_around(const void *at, struct lat_check_block *found)
{
    struct zone_block block;
    if (!zone_find(at, &block))
        return false;
    bool inside = (uintptr_t)at >= block.start && (uintptr_t)at < block.start + block.bytes;
    *found =
        (struct lat_check_block){inside ? "heap block" : "gap between heap blocks", block.start, block.bytes, inside};
    return true;
}

unsigned long check_zone_number(const void *at)
{
    struct zone_block block;
    return at && zone_find(at, &block) ? block.number : 0;
}

/* Takes a block out of the register. Returns false when no block starts there; ends the job when that is a mistake. */
static bool zone_take(const char *call, const void *ptr, struct zone_block *block)
{
    bool known = zone_find(ptr, block);
    if (known && block->start != (uintptr_t)ptr)
        lat_check_fail(call, "ptr", "%p points into the block of %zu bytes at %p, not at its start", ptr, block->bytes,
                       (void *)block->start);
    for (size_t i = 0; !known && i < FREED; i++)
        if (ptr && freed[i].start == (uintptr_t)ptr) {
            char where[128];
            where_write_at(freed[i].place, where, sizeof where);
            lat_check_fail(call, "ptr", "%p was freed before; it was a block of %zu bytes from %s%s", ptr,
                           freed[i].bytes, freed[i].call, where);
        }
    if (!known)
        return false;
    zone_look(call, block);
    pthread_mutex_lock(&lock);
    size_t at = zone_upper(block->start) - 1;
    memmove(blocks + at, blocks + at + 1, (--count - at) * sizeof *blocks);
    freed[freed_at++ % FREED] = *block;
    pthread_mutex_unlock(&lock);
    return true;
}

void check_zone_free(const char *call, void *ptr)
{
    struct zone_block block;
    bool ours = zone_take(call, ptr, &block);
    pshmem_free(ours ? (char *)ptr - block.front : ptr);
}

void *check_zone_realloc(const char *call, const void *from, void *ptr, size_t bytes)
{
    struct zone_block block;
    if (!ptr)
        return check_zone_malloc(call, from, bytes, 0);
    if (!bytes) {
        check_zone_free(call, ptr);
        return NULL;
    }
    if (!zone_find(ptr, &block) || block.start != (uintptr_t)ptr)
        return zone_take(call, ptr, &block) ? NULL : pshmem_realloc(ptr, bytes);
    pshmem_barrier_all(); /* peers' puts into the old block are in before it moves */
    void *moved = check_zone_malloc(call, from, bytes, 0);
    if (!moved)
        return NULL;
    memcpy(moved, ptr, block.bytes < bytes ? block.bytes : bytes);
    check_zone_free(call, ptr);
    return moved;
}

void check_zones_end(void)
{
    pthread_mutex_lock(&lock);
    count = 0;
    made = 0;
    memset(freed, 0, sizeof freed);
    pthread_mutex_unlock(&lock);
}
