/* Rules on pointers: null, alignment, symmetric ranges, overlap. */
#include "rules.h"

void check_null(const char *call, const char *argument, const void *pointer)
{
    if (!pointer)
        lat_check_fail(call, argument, "is a null pointer");
}

void check_local(const char *call, const char *argument, const void *at, size_t bytes, size_t align)
{
    if (bytes == 0)
        return;
    check_null(call, argument, at);
    if ((uintptr_t)at % align)
        lat_check_fail(call, argument, "%p is not aligned to the %zu bytes of its type", at, align);
    if ((uintptr_t)at + bytes < (uintptr_t)at)
        lat_check_fail(call, argument, "%zu bytes at %p run past the end of memory", bytes, at);
}

void check_symmetric(const char *call, const char *argument, const void *at, size_t bytes, size_t align)
{
    struct lat_check_block block;
    if (bytes == 0)
        return;
    check_local(call, argument, at, bytes, align);
    if (!check_zone_around(at, &block) && !lat_check_find(at, &block))
        lat_check_fail_address(call, argument, at);
    if (!block.usable)
        lat_check_fail(call, argument, "%p is in a %s: freed, or never allocated", at, block.kind);
    size_t room = block.bytes - ((uintptr_t)at - block.start);
    if (bytes > room)
        lat_check_fail(call, argument, "%zu bytes at %p run past the end of the %s of %zu bytes at 0x%lx: room for %zu",
                       bytes, at, block.kind, block.bytes, (unsigned long)block.start, room);
}

static bool overlap(const void *one, size_t bytes, const void *other, size_t length)
{
    return bytes && length && (uintptr_t)one < (uintptr_t)other + length && (uintptr_t)other < (uintptr_t)one + bytes;
}

void check_apart(const char *call, const char *one, const void *at, size_t bytes, const char *other, const void *from,
                 size_t length)
{
    if (overlap(at, bytes, from, length))
        lat_check_fail(call, one, "%zu bytes at %p overlap %s, %zu bytes at %p", bytes, at, other, length, from);
}

void check_apart_or_same(const char *call, const char *one, const void *at, const char *other, const void *from,
                         size_t bytes)
{
    if (at != from)
        check_apart(call, one, at, bytes, other, from, bytes);
}

/* The standard wants two objects. Dozens of published programs broadcast in place, and every library lets them. */
void check_apart_or_warn(const char *call, const char *one, const void *at, const char *other, const void *from,
                         size_t bytes)
{
    static bool warned;
    if (at != from)
        check_apart(call, one, at, bytes, other, from, bytes);
    else if (bytes && !__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED)) /* no partner: it only counts */
        lat_check_warn(call, "%s and %s are both %p; the standard wants two objects", one, other, at);
}

void check_apart_at(const char *call, const char *one, const void *at, size_t bytes, int world, const char *other,
                    const void *from, size_t length)
{
    const void *here = bytes ? pshmem_ptr(at, world) : NULL;
    if (here && overlap(here, bytes, from, length))
        lat_check_fail(call, one, "%zu bytes at %p of PE %d are the memory of %s, %zu bytes at %p", bytes, at, world,
                       other, length, from);
}
