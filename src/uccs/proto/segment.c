/* Translates places. The origin's half translates an address of this process to segment and offset; the target's half
 * translates a remote PE's place to a local pointer. The target's half is called under the service worker's lock but does
 * not rely on it. */
#include "uccs/proto/inner.h"

#include "rte/node.h"
#include "uccs/core/memory.h"
#include "uccs/mem/region.h"

#include <stdlib.h>

struct proto_address proto_address(const void *addr)
{
    size_t offset;
    switch (uccs_memory_find(addr, &offset)) {
    case UCCS_HEAP: return (struct proto_address){.segment = PROTO_HEAP, .offset = offset};
    case UCCS_IMAGE: return (struct proto_address){.segment = PROTO_IMAGE, .offset = offset};
    default: return (struct proto_address){.segment = PROTO_NOWHERE};
    }
}

/* --- Landing buffers: private memory for internal puts of other PEs. Any thread opens and closes one */

struct landing {
    char *start; /* null: free */
    size_t bytes;
};

static struct landing *landings;
static size_t nlandings;

static size_t free_landing(void)
{
    size_t i = 0;
    while (i < nlandings && landings[i].start)
        i++;
    if (i < nlandings)
        return i;
    landings = uccs_must_have(realloc(landings, (nlandings + 8) * sizeof *landings), "messages to", uccs_core.me);
    for (size_t k = 0; k < 8; k++)
        landings[nlandings++] = (struct landing){0};
    return i;
}

struct proto_address proto_landing_open(void *start, size_t bytes)
{
    proto_service_lock();
    size_t i = free_landing();
    landings[i] = (struct landing){start, bytes};
    proto_service_unlock();
    return (struct proto_address){.segment = PROTO_LANDING, .offset = i * PROTO_LANDING_MOST};
}

void proto_landing_close(struct proto_address landing)
{
    proto_service_lock();
    landings[landing.offset / PROTO_LANDING_MOST].start = 0;
    proto_service_unlock();
}

static char *find_landing(uint64_t *offset, size_t *limit)
{
    uint64_t i = *offset / PROTO_LANDING_MOST;
    if (i >= nlandings || !landings[i].start)
        return 0;
    *offset %= PROTO_LANDING_MOST;
    *limit = landings[i].bytes;
    return landings[i].start;
}

/* --- Segments */

static char *find_heap(uint64_t *offset, size_t *limit)
{
    (void)offset;
    *limit = uccs_memory_heap_whole();
    return (char *)uccs_core.heap_start;
}

static char *find_image(uint64_t *offset, size_t *limit)
{
    (void)offset;
    *limit = uccs_core.globals_bytes;
    return uccs_memory_image(uccs_core.index);
}

static char *find_row(uint64_t *offset, size_t *limit)
{
    const size_t row = (size_t)NODE_GROUP_LINES * CACHE_LINE, slot = *offset / row;
    if (slot >= NODE_GROUP_AREAS)
        return 0;
    *offset -= slot * row;
    *limit = row;
    return uccs_core.groups + (slot * uccs_core.pes + uccs_core.index) * row;
}

/* Finds a segment of this process. Returns its start or null when there is none; stores its size in `limit`, and makes
 * `offset` count from the returned start. */
typedef char *segment_find(uint64_t *offset, size_t *limit);

static segment_find *const finders[PROTO_SEGMENTS] =
    {[PROTO_HEAP] = find_heap, [PROTO_IMAGE] = find_image, [PROTO_ROWS] = find_row, [PROTO_LANDING] = find_landing};

/* --- Places */

static lat_cold _Noreturn void fail_bounds(const struct wire_header *header, uint64_t offset, size_t bytes)
{
    uccs_fail("PE %u reaches beyond the memory of PE %d: offset %llu, %zu bytes", header->from, uccs_core.me,
              (unsigned long long)offset, bytes);
}

/* The sender has checked the program's arguments, so a miss is a fault of the library or the wire. */
static char *find_in_segment(const struct wire_header *header, uint64_t offset, size_t bytes)
{
    size_t limit;
    segment_find *find = header->segment < PROTO_SEGMENTS ? finders[header->segment] : 0;
    char *base = find ? find(&offset, &limit) : 0;
    if (lat_unlikely(!base || offset > limit || bytes > limit - offset))
        fail_bounds(header, offset, bytes);
    return base + offset;
}

char *proto_target_piece(const struct wire_header *header, size_t *bytes)
{
    uint64_t offset = header->at.offset;
    size_t limit = 0;
    const uint32_t segment = header->segment;
    char *base =
        segment == PROTO_REGION ? uccs_region_whole(header->at.region, &limit) : finders[segment](&offset, &limit);
    const size_t left = base && offset < limit ? limit - offset : 0;
    *bytes = left < PROTO_PIECE ? left : PROTO_PIECE;
    return *bytes ? base + offset : 0;
}

char *proto_target_address(const struct wire_header *header, uint64_t offset, size_t bytes)
{
    char *at;
    if (lat_likely(header->segment != PROTO_REGION))
        return find_in_segment(header, offset, bytes);
    if (uccs_region_find(header->at.region, offset, bytes, &at) == UCCS_ERR_BOUNDS)
        fail_bounds(header, offset, bytes);
    return at;
}

void *proto_target_word(const struct wire_header *header, uint64_t offset, size_t bytes)
{
    char *at = proto_target_address(header, offset, bytes);
    if (lat_unlikely((uintptr_t)at & (bytes - 1)))
        uccs_fail("PE %u names a word of %zu bytes of PE %d that is not aligned: offset %llu", header->from, bytes,
                  uccs_core.me, (unsigned long long)offset);
    return at;
}
