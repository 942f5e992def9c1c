#include "uccs/object/room.h"

#include "base/atomic.h"
#include "base/heap.h"
#include "uccs/core/memory.h"

#include <pthread.h>

/* Guards the allocators. Calls are rare. */
static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static struct heap *rooms[UCCS_ROOMS];

static char *my_region(size_t *bytes)
{
    return uccs_memory_region((uint32_t)uccs_core.me - uccs_core.first, bytes);
}

size_t uccs_region_program_bytes(void)
{
    size_t bytes;
    my_region(&bytes);
    return bytes - UCCS_LIBRARY_BYTES;
}

/* The library's room lies behind the program's. */
static char *room_start(enum uccs_room room)
{
    size_t bytes;
    return my_region(&bytes) + (room == UCCS_ROOM_LIBRARY ? uccs_region_program_bytes() : 0);
}

void *uccs_region_take(enum uccs_room room, size_t length)
{
    size_t offset;
    pthread_mutex_lock(&books);
    if (!rooms[room])
        rooms[room] = heap_create(room == UCCS_ROOM_LIBRARY ? UCCS_LIBRARY_BYTES : uccs_region_program_bytes());
    int status = rooms[room] ? heap_alloc(rooms[room], length, CACHE_LINE, &offset) : HEAP_NO_BOOKS;
    pthread_mutex_unlock(&books);
    return status ? 0 : room_start(room) + offset;
}

void uccs_region_give(void *block)
{
    enum uccs_room room = (char *)block < room_start(UCCS_ROOM_LIBRARY) ? UCCS_ROOM_PROGRAM : UCCS_ROOM_LIBRARY;
    pthread_mutex_lock(&books);
    if (rooms[room]) /* null: the life of the block is over */
        heap_free(rooms[room], (size_t)((char *)block - room_start(room)));
    pthread_mutex_unlock(&books);
}

void uccs_room_close(void)
{
    pthread_mutex_lock(&books);
    for (int room = 0; room < UCCS_ROOMS; room++) {
        heap_destroy(rooms[room]);
        rooms[room] = 0;
    }
    pthread_mutex_unlock(&books);
}

/* --- Mapped memory */

uint32_t uccs_region_locate(const void *start, size_t length, uint64_t *where)
{
    size_t first, last, bytes;
    const char *address = start, *base = my_region(&bytes);
    enum uccs_segment segment = uccs_memory_find(address, &first);
    if ((size_t)(address - base) < bytes && length <= bytes - (size_t)(address - base)) {
        *where = (uint64_t)(address - base);
        return UCCS_IN_REGION;
    }
    *where = first;
    bool whole = segment != UCCS_NOWHERE && uccs_memory_find(address + length - 1, &last) == segment &&
                 last - first == length - 1;
    return whole ? (uint32_t)segment : UCCS_UNMAPPED;
}

char *uccs_region_near(int owner, uint32_t segment, uint64_t where)
{
    size_t bytes;
    uint32_t index = (uint32_t)owner - uccs_core.first;
    switch (segment) {
    case UCCS_HEAP: return (char *)uccs_core.heap_peers + index * uccs_core.heap_stride + where;
    case UCCS_IMAGE: return uccs_memory_image(index) + where;
    case UCCS_IN_REGION: return uccs_memory_region(index, &bytes) + where;
    default: return 0;
    }
}
