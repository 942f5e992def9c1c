/* What regions.c and its parts share: the files under test, with mutexes that are counted, and some memory. */
#ifndef TESTS_TRUST_REGIONS_WORLD_H
#define TESTS_TRUST_REGIONS_WORLD_H

#include "uccs/core/look.h"
#include "uccs/core/memory.h"
#include "uccs/core/poller.h"
#include "uccs/object/attach.h"
#include "uccs/object/room.h"

#include "locked.h"
#include "parts/pair.h"

#include <pthread.h>
#include <sys/resource.h>

static char *huge;
static size_t huge_bytes;

static void ask_for_huge(char *start, size_t bytes)
{
    huge = start;
    huge_bytes = bytes;
}

#define pthread_mutex_lock lock_mutex
#define pthread_mutex_trylock try_mutex
#define pthread_mutex_unlock unlock_mutex
#include "uccs/object/kernel.c"
#include "uccs/object/stage.c"
#define take take_room
static int punched; /* how often pages went back to the kernel */

static int advise(void *start, size_t bytes, int what)
{
    punched += what == MADV_REMOVE;
    return madvise(start, bytes, what);
}

#define madvise advise
#define uccs_memory_ask_huge ask_for_huge
#include "uccs/object/room.c"
#undef take
#undef madvise
#undef pthread_mutex_lock
#undef pthread_mutex_trylock
#undef pthread_mutex_unlock

enum { MB = 1 << 20, CELL = 64, CELLS = 400 };

static char *region, *private_memory; /* private_memory: no PE maps it but this one */
static size_t region_size;

static bool is_zero(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i])
            return false;
    return true;
}

#endif
