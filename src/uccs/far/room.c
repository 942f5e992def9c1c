/* Rooms are private memory for parcels of other PEs. Any thread opens and closes a room, under the service lane's lock;
 * the target's half looks it up under the same lock. See far.h. */
#include "uccs/far/inner.h"

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

struct uccs_far_place uccs_far_open_room(void *start, size_t bytes)
{
    link_hold();
    size_t i = free_room();
    rooms[i] = (struct room){start, bytes};
    link_go_on();
    return (struct uccs_far_place){.segment = FAR_ROOM, .offset = i * FAR_ROOM_MOST};
}

void uccs_far_close_room(struct uccs_far_place room)
{
    link_hold();
    rooms[room.offset / FAR_ROOM_MOST].start = 0;
    link_go_on();
}

char *far_room_find(uint64_t *offset, size_t *limit)
{
    uint64_t i = *offset / FAR_ROOM_MOST;
    if (i >= nrooms || !rooms[i].start)
        return 0;
    *offset %= FAR_ROOM_MOST;
    *limit = rooms[i].bytes;
    return rooms[i].start;
}
