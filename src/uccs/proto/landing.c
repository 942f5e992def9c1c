/* Rooms are private memory for parcels of other PEs. Any thread opens and closes a room, under the service worker's lock;
 * the target's half looks it up under the same lock. See initiator.h. */
#include "uccs/proto/target.h"

#include <stdlib.h>

struct room {
    char *start; /* null: free */
    size_t bytes;
};

static struct room *rooms;
static size_t nrooms;

static size_t free_room(void)
{
    size_t i = 0;
    while (i < nrooms && rooms[i].start)
        i++;
    if (i < nrooms)
        return i;
    struct room *more = realloc(rooms, (nrooms + 8) * sizeof *rooms);
    if (!more)
        uccs_fail("no memory for %zu rooms", nrooms + 8);
    rooms = more;
    for (size_t k = 0; k < 8; k++)
        rooms[nrooms++] = (struct room){0};
    return i;
}

struct proto_address proto_landing_open(void *start, size_t bytes)
{
    proto_service_lock();
    size_t i = free_room();
    rooms[i] = (struct room){start, bytes};
    proto_service_unlock();
    return (struct proto_address){.segment = PROTO_LANDING, .offset = i * PROTO_LANDING_MOST};
}

void proto_landing_close(struct proto_address room)
{
    proto_service_lock();
    rooms[room.offset / PROTO_LANDING_MOST].start = 0;
    proto_service_unlock();
}

char *proto_landing_find(uint64_t *offset, size_t *limit)
{
    uint64_t i = *offset / PROTO_LANDING_MOST;
    if (i >= nrooms || !rooms[i].start)
        return 0;
    *offset %= PROTO_LANDING_MOST;
    *limit = rooms[i].bytes;
    return rooms[i].start;
}
