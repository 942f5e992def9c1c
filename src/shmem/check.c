#include "shmem/check.h"

#include "base/log.h"
#include "shmem/mem.h"
#include "shmem/state.h"
#include "uccs/core/memory.h"
#include "uccs/object/counter.h"
#include "uccs/object/request.h"

#include <stdarg.h>
#include <stdio.h>

_Noreturn void lat_check_fail(const char *call, const char *argument, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lat_fail(call, "%s: %s", argument, text);
}

void lat_check_warn(const char *call, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_line("%s: warning: %s", call, text);
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
    else if (segment == UCCS_IMAGE)
        *block = (struct lat_check_block){.kind = "global variables",
                                          .start = (uintptr_t)addr - offset,
                                          .bytes = uccs_memory_image_bytes(),
                                          .usable = true};
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
