#include "shmem/place.h"

/* Decides what is wrong with (addr, pe) and ends the job. */
static _Noreturn void fail_address(const char *call, const char *argument, const void *addr, int pe)
{
    size_t offset;
    lat_require(call);
    if (pe < 0 || pe >= uccs_core.npes)
        lat_fail(call, "pe %d is out of range, the job has PEs 0 to %d", pe, uccs_core.npes - 1);
    if (uccs_memory_find(addr, &offset) == UCCS_IMAGE)
        lat_fail(call, "%s %p is a global variable, but PE %d runs another program; use shmem_malloc", argument, addr,
                 pe);
    const char *why = uccs_memory_why_private();
    lat_fail(call, "%s %p is not a symmetric address%s%s%s", argument, addr,
             why ? " (global variables are private here: " : "", why ? why : "", why ? ")" : "");
}

void *lat_resolve(const char *call, const char *argument, const void *addr, int pe)
{
    void *near = uccs_memory_resolve(addr, pe);
    if (!near)
        fail_address(call, argument, addr, pe);
    return near;
}

struct uccs_far_place lat_far_place(const char *call, const char *argument, const void *addr, int pe)
{
    struct uccs_far_place place = uccs_far_place(addr);
    if (lat_unlikely(place.segment == FAR_NOWHERE || (place.segment == FAR_IMAGE && !uccs_far_same_image(pe))))
        fail_address(call, argument, addr, pe);
    return place;
}

bool lat_moves_nothing(const char *call, size_t bytes, int pe)
{
    lat_require(call);
    return bytes == 0 && pe >= 0 && pe < uccs_core.npes;
}
