/* Parcels, and the rooms that they may be laid into. See far.h.
 *
 * Rooms: opened by any thread, looked up under the service lane's lock, which open and close take too. */
#include "uccs/far_lane.h"

#include <stdlib.h>

struct room {
    char *start; /* null: free */
    size_t bytes;
};

static struct room *rooms;
static size_t nrooms;

void uccs_far_parcel(int pe, const struct uccs_far_parcel *parcel, uint32_t *held)
{
    (void)atomic_fetch_add_relaxed(held, 1); /* released by far_send_free */
    struct far_lane *lane = far_service();
    pthread_mutex_lock(&lane->lock);
    struct far_send *send = far_send_new(lane);
    send->header.kind = FAR_PARCEL;
    send->header.op = (uint8_t)parcel->with.what;
    send->header.segment = (uint8_t)parcel->to.segment;
    send->header.offset = parcel->to.offset;
    send->header.size = (uint8_t)parcel->with.place.segment;
    send->header.a = parcel->with.place.offset;
    send->header.b = parcel->with.value;
    send->held = held;
    far_send(far_peer(lane, pe), send, parcel->data, parcel->bytes);
    pthread_mutex_unlock(&lane->lock);
}

static size_t free_room(void)
{
    size_t i = 0;
    while (i < nrooms && rooms[i].start)
        i++;
    if (i < nrooms)
        return i;
    struct room *more = realloc(rooms, (nrooms + 8) * sizeof *rooms);
    if (!more)
        far_fail("no memory for %zu rooms", nrooms + 8);
    rooms = more;
    for (size_t k = 0; k < 8; k++)
        rooms[nrooms++] = (struct room){0};
    return i;
}

struct uccs_far_place uccs_far_open_room(void *start, size_t bytes)
{
    pthread_mutex_lock(&far_service()->lock);
    size_t i = free_room();
    rooms[i] = (struct room){start, bytes};
    pthread_mutex_unlock(&far_service()->lock);
    return (struct uccs_far_place){.segment = FAR_ROOM, .offset = i * FAR_ROOM_MOST};
}

void uccs_far_close_room(struct uccs_far_place room)
{
    pthread_mutex_lock(&far_service()->lock);
    rooms[room.offset / FAR_ROOM_MOST].start = 0;
    pthread_mutex_unlock(&far_service()->lock);
}

char *far_room_of(uint64_t *offset, size_t *limit)
{
    uint64_t i = *offset / FAR_ROOM_MOST;
    if (i >= nrooms || !rooms[i].start)
        return 0;
    *offset %= FAR_ROOM_MOST;
    *limit = rooms[i].bytes;
    return rooms[i].start;
}
