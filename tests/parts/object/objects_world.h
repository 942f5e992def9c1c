/* What objects.c includes: the files that it tests, with memory that is counted and can be out, and mutexes that are counted. */
#ifndef TESTS_TRUST_OBJECTS_WORLD_H
#define TESTS_TRUST_OBJECTS_WORLD_H

#include "uccs/core/due.h"
#include "uccs/core/look.h"

#include "locked.h"
#include "parts/pair.h"

#include <pthread.h>

static int blocks, fails_at; /* memory that is out; the allocation that fails, counted down */

static void *get_memory(size_t bytes)
{
    if (fails_at && --fails_at == 0)
        return NULL;
    blocks++;
    return malloc(bytes);
}

static void put_memory(void *block)
{
    blocks -= block != NULL;
    free(block);
}

#define malloc get_memory
#define free put_memory
#define pthread_mutex_lock lock_mutex
#define pthread_mutex_trylock try_mutex
#define pthread_mutex_unlock unlock_mutex
#include "uccs/life.c"
#include "uccs/object/ending.c"
#include "uccs/object/request.c"
#define take take_entries
#define leave leave_queue
#include "uccs/object/queue.c"
#undef take
#undef leave
#include "uccs/object/awaited.c"
#include "uccs/object/tell.c"
#undef malloc
#undef free

#endif
