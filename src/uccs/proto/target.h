/* Inside of the far operations. The origin's files and the target's files share these declarations. */
#ifndef UCCS_PROTO_TARGET_H
#define UCCS_PROTO_TARGET_H

#include "uccs/proto/initiator.h"
#include "uccs/core/fail.h"

/* --- At the origin */

/* pending.c: a get or a fetching atomic that is under way. */
struct proto_fetch {
    struct proto_pending ask;
    void *dest;
    struct proto_blocks blocks; /* count 0: the data is one piece */
};

extern const struct proto_handler proto_on_data, proto_on_answer;

/* Returns what a put or get does to a counter: nothing, a count, or an error when the handle is old. The origin decides
 * this for the job's counters, since the target may not have created the counter yet; the target for those that a group
 * or a PE has opened. */
static inline uint8_t proto_notify_count_kind(uccs_counter counter)
{
    if (!counter)
        return PROTO_NOTIFY_NONE;
    return uccs_counter_of_job(counter) || uccs_counter_opened(counter) ? PROTO_NOTIFY_COUNT : PROTO_NOTIFY_STALE;
}

/* notify.c. Describes what the target does behind an operation. */
struct wire_notify proto_notify_wire(const struct proto_notify *with);
/* The data of a message, and the notifications behind it. */
struct proto_payload {
    const void *data;
    void *buffer; /* holds the data; null: the caller's memory does */
    size_t bytes;
    uint8_t notices; /* 0 to 2 */
};

/* Puts notifications, if any, behind the data, which is in the buffer. Returns false without memory. */
bool proto_notify_append(struct proto_payload *payload, const struct proto_notify *with);

/* --- At the target: events, under the service worker's lock */

/* segment.c. Returns the local address of the header's memory; null when its region has been released. Ends the job when
 * the bytes are outside of the segment. */
char *proto_target_address(const struct wire_header *header, uint64_t offset, size_t bytes);
/* The same in a segment that is not PROTO_REGION; never returns null. */
char *proto_target_in(const struct wire_header *header, uint32_t segment, uint64_t offset, size_t bytes);

/* Returns the address of a word of 4 or 8 bytes there, or null as proto_target_address does. Ends the job when the word is not
 * aligned. */
void *proto_target_word(const struct wire_header *header, uint64_t offset, size_t bytes);

/* The piece of memory (PROTO_PIECE) at the header's place: returns its start, and stores its size, which is 0 when the place
 * has no memory that may be shared. */
char *proto_target_piece(const struct wire_header *header, size_t *bytes);

/* Finds a segment of this process. Returns its start or null when there is none; stores its size in `limit`, and makes
 * `offset` count from the returned start. */
typedef char *proto_segment_find(uint64_t *offset, size_t *limit);

/* segment.c */
char *proto_landing_find(uint64_t *offset, size_t *limit);

/* notify.c. Counts or signals, once an operation is applied. */
void proto_notify_run(struct proto_arrival *arrival, const struct wire_notify *notice);
/* Returns a notification behind the data of an arrival, the last one but `left` - 1; ends the job when it is none. */
struct wire_notify proto_notify_read(const struct proto_arrival *arrival, const void *data, size_t left);
/* Does what the `count` notifications behind the data say, in their order. */
void proto_notify_run_all(struct proto_arrival *arrival, const void *data, size_t count);

/* target.c. proto_answer_word answers an atomic or a question about a region; `done` false: it failed; `applied`: see
 * proto_applied_count. */
void proto_answer_word(struct proto_arrival *arrival, uint64_t handle, uint64_t old, bool done, uint64_t applied);
extern const struct proto_handler proto_on_put, proto_on_put_blocks, proto_on_parcel, proto_on_get, proto_on_get_blocks,
    proto_on_amo, proto_on_flag, proto_on_change;

/* key.c */
extern const struct proto_handler proto_on_key;

/* import.c */
extern const struct proto_handler proto_on_import, proto_on_gone;

/* lock.c. open lets waits look for the turns of waiters; close forgets the waiters at the end of a life. */
void proto_lock_open(void);
void proto_lock_close(void);
extern const struct proto_handler proto_on_lock, proto_on_unlock, proto_on_locked;

#endif
