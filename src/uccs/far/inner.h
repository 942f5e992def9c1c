/* Inside of the far operations. The origin's files and the target's files share these declarations. */
#ifndef UCCS_FAR_INNER_H
#define UCCS_FAR_INNER_H

#include "uccs/far/far.h"
#include "uccs/core/fail.h"

/* --- At the origin */

/* ask.c: a get or a fetching atomic that is under way. */
struct far_ask {
    struct link_ask ask;
    void *dest;
    struct uccs_far_blocks blocks; /* count 0: the data is one piece */
};

extern const struct link_handler far_on_data, far_on_answer;

/* Returns what a put or get does to a counter: nothing, a count, or an error when the handle is old. The origin decides
 * this for the job's counters, since the target may not have created the counter yet; the target for those that a group
 * or a PE has opened. */
static inline uint8_t far_count_kind(uccs_counter counter)
{
    if (!counter)
        return FAR_NOTHING;
    return uccs_counter_of_job(counter) || uccs_counter_opened(counter) ? FAR_COUNT : FAR_LATE;
}

/* notice.c. Describes what the target does behind an operation. */
struct link_notice far_notice_of(const struct uccs_far_with *with);
/* Puts the notices, if any, behind the message's data, in a buffer that goes with the message, and stores how many they are: 0 to
 * 2. Returns false without memory. */
bool far_notice_behind(struct link_message *message, const struct uccs_far_with *with, uint8_t *count);

/* --- At the target: events, under the service lane's lock */

/* place.c. Returns the local address of the header's memory; null when its region has been released. Ends the job when
 * the bytes are outside of the segment. */
char *far_place_of(const struct link_header *header, uint64_t offset, size_t bytes);
/* The same in a segment that is not FAR_REGION; never returns null. */
char *far_place_in(const struct link_header *header, uint32_t segment, uint64_t offset, size_t bytes);

/* Returns the address of a word of 4 or 8 bytes there, or null as far_place_of does. Ends the job when the word is not
 * aligned. */
void *far_word_of(const struct link_header *header, uint64_t offset, size_t bytes);

/* The piece of memory (LINK_PIECE) at the header's place: returns its start, and stores its size, which is 0 when the place
 * has no memory that may be shared. */
char *far_piece_of(const struct link_header *header, size_t *bytes);

/* Finds a segment of this process. Returns its start or null when there is none; stores its size in `limit`, and makes
 * `offset` count from the returned start. */
typedef char *far_segment_find(uint64_t *offset, size_t *limit);

/* room.c */
char *far_room_find(uint64_t *offset, size_t *limit);

/* notice.c. Counts or signals, once an operation is applied. */
void far_notice_do(struct link_arrival *arrival, const struct link_notice *notice);
/* Returns a notice behind the data of an arrival, the last one but `left` - 1; ends the job when it is none. */
struct link_notice far_notice_read(const struct link_arrival *arrival, const void *data, size_t left);
/* Does what the `count` notices behind the data say, in their order. */
void far_notices_do(struct link_arrival *arrival, const void *data, size_t count);

/* serve.c. far_answer answers an atomic or a question about a region; `done` false: it failed. */
void far_answer(struct link_arrival *arrival, uint64_t asker, uint64_t old, bool done);
extern const struct link_handler far_on_put, far_on_put_blocks, far_on_parcel, far_on_get, far_on_get_blocks,
    far_on_amo, far_on_flag;

/* change.c */
extern const struct link_handler far_on_change;

/* key.c */
extern const struct link_handler far_on_key;

/* region.c */
extern const struct link_handler far_on_import, far_on_gone;

/* lock.c. close forgets the waiters at the end of a life. */
void far_lock_close(void);
extern const struct link_handler far_on_lock, far_on_unlock, far_on_locked;

#endif
