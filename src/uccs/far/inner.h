/* Inside of the far operations: what the origin's files and the target's share. */
#ifndef UCCS_FAR_INNER_H
#define UCCS_FAR_INNER_H

#include "uccs/far/far.h"
#include "uccs/watch/fail.h"

/* --- At the origin */

/* ask.c: a get or a fetching atomic that is under way. */
struct far_ask {
    struct link_ask ask;
    void *dest;
    struct uccs_far_blocks blocks; /* count 0: plain */
};

/* A copy that is completed by a quiet or a request, and freed then. */
struct far_ask *far_ask_later(const struct far_ask *what, uccs_request_handle *handle);
/* Returns the object of a handle, or null without a handle. */
struct uccs_request *far_request_of(uccs_request_handle *handle);
extern const struct link_handler far_on_data, far_on_answer;

/* Whether a handle is an old one is known at the origin: the target may not have made its counter yet. */
static inline uint8_t far_count_kind(uccs_counter counter)
{
    return !counter ? FAR_NOTHING : uccs_counter_live(counter) ? FAR_COUNT : FAR_LATE;
}

/* --- At the target: events, under the service lane's lock */

/* place.c: the address here; null when the region that the header names has been released. What is beyond ends the job. */
char *far_place_of(const struct link_header *header, uint64_t offset, size_t bytes);
/* The same in a segment that is no region. */
char *far_place_in(const struct link_header *header, uint32_t segment, uint64_t offset, size_t bytes);

/* A segment of this process: returns where it is mapped, its size, and the offset in what it returns. Null: there is
 * none. */
typedef char *far_segment_find(uint64_t *offset, size_t *limit);

/* room.c */
char *far_room_find(uint64_t *offset, size_t *limit);

/* serve.c */
void far_answer(struct link_arrival *arrival, uint64_t asker, uint64_t old, bool done);
extern const struct link_handler far_on_put, far_on_put_blocks, far_on_parcel, far_on_get, far_on_get_blocks,
    far_on_amo, far_on_flag;

/* region.c */
extern const struct link_handler far_on_import, far_on_gone;

#endif
