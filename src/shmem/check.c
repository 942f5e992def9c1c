#include "shmem/check.h"

#include "base/log.h"
#include "base/poison.h"
#include "base/where.h"
#include "shmem/place.h"
#include "shmem/state.h"
#include "shmem/team.h"
#include "uccs/core/memory.h"
#include "uccs/comp/counter.h"
#include "uccs/comp/request.h"

#include <stdarg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_REQUESTS 4096

_Noreturn void lat_check_fail(const char *call, const char *argument, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lat_fail(call, "%s: %s", argument, text);
}

_Noreturn void lat_check_fail_address(const char *call, const char *argument, const void *addr)
{
    char name[64];
    snprintf(name, sizeof name, "%s:", argument);
    lat_fail_address(call, name, addr, uccs_core.me);
}

void lat_check_warn(const char *call, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_mistake("%s: warning: %s", call, text);
}

void lat_check_tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_vline(format, arguments);
    va_end(arguments);
}

bool lat_check_finalized(void)
{
    return lat_state == LAT_AFTER;
}

void lat_check_running(const char *call)
{
    lat_require(call);
}

static void heap_part(const void *addr, struct lat_check_block *block)
{
    *block = (struct lat_check_block){.kind = "heap block", .usable = true};
    if (!lat_mem_around(addr, &block->start, &block->bytes))
        *block = (struct lat_check_block){.kind = "free part of the symmetric heap"};
}

bool lat_check_find(const void *addr, struct lat_check_block *block)
{
    size_t offset;
    enum uccs_segment segment = uccs_memory_find(addr, &offset);
    if (segment == UCCS_HEAP)
        heap_part(addr, block);
    else if (segment == UCCS_IMAGE) {
        *block = (struct lat_check_block){.kind = "global variables",
                                          .start = (uintptr_t)addr - offset,
                                          .bytes = uccs_core.globals_bytes,
                                          .usable = true};
        if (where_extent(addr, &block->start, &block->bytes))
            block->kind = "variable";
    }
    return segment != UCCS_NOWHERE;
}

bool lat_check_request_is_object(const void *request)
{
    return (uintptr_t)request > (uintptr_t)UCCS_REQUEST_DIRTY;
}

/* A generation is odd while its counter is in use, and grows. */
const char *lat_check_counter(const void *handle)
{
    uccs_counter counter = (uccs_counter)(uintptr_t)handle;
    if (!uccs_counter_named(counter))
        return "is not a counter";
    if (uccs_counter_live(counter) || uccs_counter_opened(counter))
        return 0;
    uint64_t generation = counter >> UCCS_COUNTER_SLOT_BITS;
    bool was = generation % 2 == 1 && generation < uccs_counter_generation[uccs_counter_slot(counter)];
    return was ? "is a counter that was freed" : "is not a counter";
}

void lat_check_map(struct lat_check_map *map)
{
    *map = (struct lat_check_map){
        .heap = {uccs_core.heap_start, uccs_core.heap_peers, uccs_core.heap_stride, uccs_core.heap_bytes},
        .image = {uccs_core.image_start, uccs_core.image_peers, uccs_core.image_stride, uccs_core.image_bytes},
        .first = (int)uccs_core.first,
        .size = (int)uccs_core.size,
    };
}

void lat_check_meet(shmem_team_t team, const void *mine, size_t bytes, void *all)
{
    uccs_team_tell(&lat_team_of(team)->group, all, mine, bytes);
}

bool lat_check_meet_set(const char *call, int start, int logstride, int size, long *psync, const void *mine,
                        size_t bytes, void *all)
{
    struct uccs_team *group = size > 1 ? lat_set_group(call, start, logstride, size, psync) : 0;
    if (!group || group->area < 0)
        return false;
    uccs_team_tell(group, all, mine, bytes);
    return true;
}

/* Frees the oldest of those that are kept. */
static void keep_request(void *request)
{
    static void *kept[KEPT_REQUESTS];
    static size_t at;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    void *oldest = kept[at];
    kept[at] = request;
    at = (at + 1) % KEPT_REQUESTS;
    pthread_mutex_unlock(&lock);
    free(oldest);
}

void lat_check_keep_requests(void)
{
    uccs_request_discard = keep_request;
}

void lat_check_forbid(const void *at, size_t bytes)
{
    poison_forbid(at, bytes);
}
