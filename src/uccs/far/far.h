/* Operations on peers of other nodes: what to ask for, as the rest of the library sees it.
 *
 * Everything travels as a message to the target's process and is executed by its processor, so one atomicity
 * domain (CPU) holds near and far, and a counting put or a put with signal is one message. Data flow:
 *
 *   origin: put.c, get.c -> link/issue.c -> link/send.c -> transport ... target: link/arrive.c -> serve.c -> memory
 *
 * Any thread; none of these is called for a peer on this node. `on` says on which lanes an operation is issued; null: on
 * the service lane. link/link.h has lanes, order and completion. */
#ifndef UCCS_FAR_FAR_H
#define UCCS_FAR_FAR_H

#include "uccs/link/link.h"
#include "uccs/object/apply.h"
#include "uccs/object/counter.h"

enum uccs_far_segment {
    FAR_NOWHERE,
    FAR_HEAP,
    FAR_IMAGE,
    FAR_REGION, /* memory registered at the target (region.h); the offset counts from its start */
    FAR_ROWS,   /* the target's rows of the group area: offset = (slot * NODE_GROUP_LINES + line) * CACHE_LINE */
    FAR_ROOM,   /* memory that the target has opened for parcels: offset = room * FAR_ROOM_MOST + offset in it */
    FAR_SEGMENTS
};

/* Where something is at the target. */
struct uccs_far_place {
    uint32_t segment; /* enum uccs_far_segment */
    uint64_t offset;
    uint64_t region; /* of FAR_REGION: uccs_region_id */
};

/* The place of my symmetric address at every PE; FAR_NOWHERE when it is none. */
struct uccs_far_place uccs_far_place(const void *addr);

/* My address of a place. */
const void *uccs_far_address(struct uccs_far_place place);

enum uccs_far_what { FAR_NOTHING, FAR_COUNT, FAR_LATE, FAR_SIGNAL_SET, FAR_SIGNAL_ADD }; /* late: an old counter */

/* What a put does at the target once its data is there. */
struct uccs_far_with {
    enum uccs_far_what what;
    struct uccs_far_place place; /* of the signal */
    uint64_t value;              /* of the signal; the counter */
    int64_t weight;
};

/* Blocks that lie a stride apart, at the target or here. */
struct uccs_far_blocks {
    size_t block, count;
    ptrdiff_t there, here; /* bytes from start to start */
};

/* Returns when the source may be reused. with and request may be null. */
void uccs_far_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                  const struct uccs_far_with *with, uccs_request_handle *request);
/* The source is the operation's until a quiet, or until the request completes. */
void uccs_far_put_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                     const struct uccs_far_with *with, uccs_request_handle *request);
/* The data is there on return; the target's counter rises (0: none). False: the region has been released. */
bool uccs_far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                  uccs_counter counter);
/* The data is there after a quiet, or when the request completes. */
void uccs_far_get_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                     uccs_counter counter, uccs_request_handle *request);
void uccs_far_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                         const struct uccs_far_blocks *blocks, uccs_request_handle *request);
bool uccs_far_get_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                         const struct uccs_far_blocks *blocks);
void uccs_far_get_blocks_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                            const struct uccs_far_blocks *blocks, uccs_request_handle *request);
/* The old value where the operation fetches; one that does not returns at once. */
uint64_t uccs_far_amo(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                      uint64_t value, uint64_t cond);
/* The old value is at `fetch`, `size` bytes, after a quiet, or when the request completes. */
void uccs_far_amo_nb(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                     uint64_t value, uint64_t cond, void *fetch, uccs_request_handle *request);
/* Stores the low `size` bytes of a value. */
static inline void uccs_far_give(void *to, size_t size, uint64_t value)
{
    if (size == sizeof(uint32_t))
        *(uint32_t *)to = (uint32_t)value;
    else
        *(uint64_t *)to = value;
}
/* The same with a word whether it was done: false when the region has been released. Returns when it was, whatever it is. */
bool uccs_far_amo_fetch(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                        uint64_t value, uint64_t cond, uint64_t *old);
/* The same where nobody wants the old value: returns at once. */
void uccs_far_amo_post(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                       uint64_t value, uint64_t cond, uccs_request_handle *request);
void uccs_far_count(struct uccs_far_lanes *on, int pe, uccs_counter counter, int64_t weight);
/* uccs_counter_clear while no message arrives here: one that looked at the generation before must not count behind it. */
void uccs_far_counter_clear(uccs_counter counter);

/* Registered memory (region.c). import: false when it has been released; else the owner tells this PE once it is
 * (uccs_region_gone). released: returns when all of these PEs, a bit for each, have been told. */
bool uccs_far_import(int pe, uint64_t region);
void uccs_far_memory_gone(uint64_t region, const uint64_t *importers);

/* Stores to a word of the target's rows, at FAR_ROWS and the offset: neither ordered nor flushed. */
void uccs_far_flag(int pe, uint64_t offset, uint64_t value);

/* Parcels: data, and then a word that tells of it (FAR_SIGNAL_SET or _ADD, release), as collectives send them.
 * Neither ordered nor flushed: the word is all that tells. `held` is one more while the source is still needed. */
struct uccs_far_parcel {
    struct uccs_far_place to;
    const void *data;
    size_t bytes;
    struct uccs_far_with with;
};
void uccs_far_parcel(int pe, const struct uccs_far_parcel *parcel, uint32_t *held);

/* Opens private memory for parcels; its place (never FAR_NOWHERE), equal to nobody's else here until it is closed. */
#define FAR_ROOM_MOST (UINT64_C(1) << 48) /* bytes */
struct uccs_far_place uccs_far_open_room(void *start, size_t bytes);
void uccs_far_close_room(struct uccs_far_place room);

/* Collective over the job, one thread. open: 0, or -1 after a line. settle, before the barrier that ends a life: what
 * this PE has issued is complete; it goes on serving while it sleeps. close, after it: nobody asks any more. */
int uccs_far_open(void);
void uccs_far_settle(void);
void uccs_far_close(void);

#endif
