/* Inside of the far operations. The origin's files and the target's files share these declarations. */
#ifndef UCCS_PROTO_TARGET_H
#define UCCS_PROTO_TARGET_H

#include "uccs/proto/initiator.h"
#include "uccs/core/fail.h"

/* --- At the origin */

extern const struct proto_handler proto_on_data;

/* Returns how many bytes of a change's operand are the message's data: all, or none, when the header holds it. */
static inline size_t proto_operand_data(const struct uccs_accumulate_op *change)
{
    const size_t bytes = uccs_accumulate_operand(change);
    return bytes > PROTO_OPERAND ? bytes : 0;
}

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

/* target.c. Begins the answer to a request that brings bytes; `from` null: it has failed. */
struct proto_send *proto_answer_data(uint64_t handle, const void *from, size_t bytes);
extern const struct proto_handler proto_on_put, proto_on_put_blocks, proto_on_parcel, proto_on_get, proto_on_get_blocks,
    proto_on_change;

/* key.c */
extern const struct proto_handler proto_on_key;

/* import.c */
extern const struct proto_handler proto_on_import, proto_on_gone;

/* lock.c. open lets waits look for the turns of waiters; close forgets the waiters at the end of a life. */
void proto_lock_open(void);
void proto_lock_close(void);
extern const struct proto_handler proto_on_lock, proto_on_unlock, proto_on_locked;

#endif
