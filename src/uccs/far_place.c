/* Where what a peer of another node names lies here. Under the service lane's lock, but nothing needs it. */
#include "uccs/far_lane.h"
#include "uccs/core/memory.h"
#include "uccs/object/region.h"

static lat_cold _Noreturn void fail_bounds(const struct far_header *header, uint64_t offset, size_t bytes)
{
    far_fail("PE %u reaches beyond the memory of PE %d: offset %llu, %zu bytes", header->from, uccs_core.me,
             (unsigned long long)offset, bytes);
}

static char *segment_of(uint32_t segment, uint64_t *offset, size_t *limit)
{
    const size_t row = (size_t)NODE_GROUP_LINES * CACHE_LINE, slot = *offset / row;
    const uint32_t index = (uint32_t)uccs_core.me - uccs_core.first;
    *limit = 0;
    switch (segment) {
    case FAR_HEAP: return uccs_memory_heap(limit);
    case FAR_IMAGE: *limit = uccs_memory_image_bytes(); return uccs_memory_image(index);
    case FAR_ROWS:
        *limit = (slot + 1) * row;
        return uccs_core.groups + (slot * uccs_core.size + index) * row - slot * row;
    case FAR_ROOM: return far_room_of(offset, limit);
    default: return 0;
    }
}

/* A sender's mistake cannot have come so far, so a miss is a fault of the library or the wire. */
char *far_place_in(const struct far_header *header, uint32_t segment, uint64_t offset, size_t bytes)
{
    size_t limit;
    char *base = segment_of(segment, &offset, &limit);
    if (lat_unlikely(!base || offset > limit || bytes > limit - offset))
        fail_bounds(header, offset, bytes);
    return base + offset;
}

char *far_place(const struct far_header *header, uint64_t offset, size_t bytes)
{
    char *at;
    if (lat_likely(header->segment != FAR_REGION))
        return far_place_in(header, header->segment, offset, bytes);
    if (uccs_region_find(header->id, offset, bytes, &at) == UCCS_ERR_BOUNDS)
        fail_bounds(header, offset, bytes);
    return at;
}

/* Memory of the locked domain: node peers come by the kernel's copy under the same lock, for a word at a time. */
uint64_t far_apply(const struct far_header *header, void *to)
{
    const struct uccs_atomic_op op = {(enum uccs_atomic)header->op, header->size, header->a, header->b};
    bool locked = header->segment == FAR_REGION && uccs_region_locked(header->id);
    return (locked ? uccs_atomic_apply_locked : uccs_atomic_apply)(&op, to);
}
