#include "shmem/place.h"

#include "base/address.h"
#include "rte/rte.h"
#include "shmem/calls.h"

#include <stdio.h>

/* Writes why a PE has no copy of a global variable of mine. */
static const char *peers_lack(int pe, char *text, size_t room)
{
    const bool near = !uccs_far_pe(pe);
    const bool shares = !near || rte.node->pe[rte_index_of(pe)].image_fd != NODE_PRIVATE;
    snprintf(text, room, shares ? "PE %d runs another program" : "those of PE %d are private", pe);
    return text;
}

_Noreturn void lat_fail_address(const char *call, const char *argument, const void *addr, int pe)
{
    size_t offset;
    char what[400], where[64];
    lat_require(call);
    if (pe < 0 || pe >= uccs_core.npes)
        lat_fail(call, "pe %d is out of range, the job has PEs 0 to %d", pe, uccs_core.npes - 1);
    const char *why = uccs_memory_why_private();
    if (!why && uccs_memory_find(addr, &offset) == UCCS_IMAGE)
        lat_fail(call, "%s %p is a global variable, but %s; use shmem_malloc", argument, addr,
                 peers_lack(pe, where, sizeof where));
    bool global = address_describe(addr, what, sizeof what);
    if (global && !why)
        why = "they lie apart from its other data";
    lat_fail(call, "%s %p is not a symmetric address%s%s%s: %s", argument, addr,
             global ? " (global variables are private here: " : "", global ? why : "", global ? ")" : "", what);
}

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    void *near = uccs_memory_resolve(addr, pe);
    if (!near)
        lat_fail_address(call, argument, addr, pe);
    return near;
}

struct proto_address lat_remote_address(const char *call, const char *argument, const void *addr, int pe)
{
    struct proto_address place = proto_address(addr);
    if (lat_unlikely(place.segment == PROTO_NOWHERE || (place.segment == PROTO_IMAGE && !proto_same_image(pe))))
        lat_fail_address(call, argument, addr, pe);
    return place;
}

bool lat_moves_nothing(const char *call, size_t bytes, int pe)
{
    lat_require(call);
    return bytes == 0 && pe >= 0 && pe < uccs_core.npes;
}

_Noreturn lat_cold void lat_fail_bytes(const char *call, size_t nelems, size_t size)
{
    lat_require(call);
    lat_fail(call, "%zu elements of %zu bytes are more than memory can hold; was the number negative?", nelems, size);
}

void lat_require_span(const char *call, ptrdiff_t stride, size_t count, size_t size)
{
    const size_t apart = stride < 0 ? -(size_t)stride : (size_t)stride;
    size_t bytes;
    if (count > 1 && (__builtin_mul_overflow(apart, size, &bytes) || __builtin_mul_overflow(bytes, count, &bytes) ||
                      bytes > LAT_BYTES_MOST))
        lat_fail(call, "%zu blocks at a stride of %td elements are more than memory can hold", count, stride);
}

int lat_addr_accessible(const void *addr, int pe)
{
    if (!uccs_far_pe(pe))
        return uccs_memory_resolve(addr, pe) != 0;
    struct proto_address place = proto_address(addr);
    return place.segment == PROTO_HEAP || (place.segment == PROTO_IMAGE && proto_same_image(pe));
}

/* For the calling PE it returns `dest` itself, not the second mapping of its pages. */
void *lat_ptr(const void *dest, int pe)
{
    size_t offset;
    if (pe == uccs_core.me)
        return uccs_memory_find(dest, &offset) != UCCS_NOWHERE ? (void *)dest : 0;
    return uccs_memory_resolve(dest, pe);
}
