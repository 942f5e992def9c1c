/* A message between nodes is a header, then data. Both ends run the same build (the start checks it), so a header is
 * plain memory. Each kind of message has a struct of its own below; upper folders handle the kinds (link.h). wire.def
 * says of each kind what a message of it may be, and valid.c refuses every other one where it enters.
 *
 * No address travels: an `asker` or `block` is a token of the PE that has issued the message (token.c). */
#ifndef UCCS_LINK_WIRE_H
#define UCCS_LINK_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum link_kind {
    LINK_PUT,
    LINK_PUT_BLOCKS,
    LINK_PARCEL, /* a put that is not counted */
    LINK_GET,
    LINK_GET_BLOCKS,
    LINK_AMO,
    LINK_AMO_ANSWER,
    LINK_CHANGE, /* the data is the operand */
    LINK_DATA,   /* answers a get, or a change with the old values */
    LINK_FLUSH,
    LINK_FLUSHED,
    LINK_FLAG,
    LINK_IMPORT,
    LINK_GONE,
    LINK_LOCK,
    LINK_UNLOCK,
    LINK_LOCKED, /* grants or refuses a lock */
    LINK_AM,
    LINK_AM_DONE,
    LINK_KEY,   /* asks for the key of a piece of memory */
    LINK_KEYED, /* the data is the key; no data: there is none */
    LINK_HELLO, /* the data is the address of a lane that issues; answers go there */
    LINK_BATCH, /* the data is small messages that leave together */
    LINK_KINDS
};

/* Memory of the target that a message may name. */
enum uccs_far_segment {
    FAR_NOWHERE,
    FAR_HEAP,
    FAR_IMAGE,
    FAR_REGION, /* memory registered at the target (region.h); the offset counts from its start */
    FAR_ROWS,   /* the target's rows of the group area; offset = (slot * NODE_GROUP_LINES + line) * CACHE_LINE */
    FAR_ROOM,   /* memory that the target has opened for parcels; offset = room * FAR_ROOM_MOST + offset in it */
    FAR_SEGMENTS
};

/* What the target does once the data is there. */
enum uccs_far_what { FAR_NOTHING, FAR_COUNT, FAR_LATE, FAR_SIGNAL_SET, FAR_SIGNAL_ADD }; /* FAR_LATE: old counter */

/* Memory of the target: an offset in the header's segment, and the region's number when the segment is a region. */
struct link_memory {
    uint64_t offset, region;
};

/* What the target does once an operation is applied. A put has it in the header. In other operations `notices` of them
 * lie behind the data: 1 at most for a get, else 2. */
struct link_notice {
    uint8_t what, signal_segment; /* what: enum uccs_far_what */
    union {
        uint64_t counter, signal_offset;
    };
    union {
        int64_t weight;
        uint64_t signal_value;
    };
    uint64_t signal_region;
};

#define LINK_REQUEST 0x8000u

struct link_header {
    uint8_t kind;    /* enum link_kind */
    uint8_t segment; /* of `at`: enum uccs_far_segment */
    uint16_t number; /* what a flush tells when the operation was refused: LINK_REQUEST and above, a request's; below, a
                         * track's; 0: nothing */
    uint32_t from : 24; /* PE and lane that issued the message */
    uint32_t lane : 8;
    uint64_t after; /* the target applies this many operations of that lane first */
    union {
        struct {
            struct link_memory at;
            union {
                struct link_notice put; /* and parcel */
                struct {
                    uint64_t block; /* bytes */
                    int64_t stride;
                    uint8_t notices;
                } put_blocks;
                uint64_t asker; /* token of the ask, the first word of all that are asked; the answer brings it back */
                struct {
                    uint64_t asker;
                    uint64_t bytes;
                    uint8_t notices;
                } get;
                struct {
                    uint64_t asker, block, count;
                    int64_t stride;
                } get_blocks;
                struct {
                    uint64_t asker; /* 0: nobody wants the old value */
                    uint64_t operand, compare;
                    uint8_t what, size; /* what: enum uccs_atomic */
                    uint8_t notices;
                } amo;
                struct {
                    uint64_t asker; /* 0: nobody wants the old values */
                    uint32_t n;     /* elements */
                    uint8_t type, how;
                    uint8_t notices;
                } change; /* struct uccs_accumulate_op */
                struct {
                    uint64_t value;
                } flag;
                struct {
                    uint64_t asker;
                } region; /* import and gone */
                struct {
                    uint64_t asker;
                } key;
            };
        };
        struct {
            uint64_t asker, old;
            uint64_t applied; /* operations of the asking lane, this one with them; 0: not told */
            uint8_t failed;   /* the region has been released */
        } answer;             /* of gets, atomics, changes, import and gone */
        struct {
            uint64_t asker, start; /* address of the piece */
        } keyed;
        struct {
            uint64_t asker;
        } flush;
        struct {
            uint64_t asker, refused;
        } flushed; /* the data is the numbers of refused operations, uint16_t each, no number twice */
        struct {
            uint64_t number, block, counter; /* number in its flow; the sender's block, or 0; counter, or 0 */
            int64_t weight;
            uint8_t context, ring, staged;
            uint16_t lane, id;
        } am;
        struct {
            uint64_t block, bytes;
            uint32_t count;
            uint16_t lane;
            uint8_t context, ring, failed;
        } am_done;
    };
};
_Static_assert(sizeof(struct link_header) == 64, "no holes");

/* Tokens lie in the same place in all that is asked, and in all answers. */
#define LINK_SAME_PLACE(a, b) _Static_assert(offsetof(struct link_header, a) == offsetof(struct link_header, b), #b)
LINK_SAME_PLACE(asker, get.asker);
LINK_SAME_PLACE(asker, get_blocks.asker);
LINK_SAME_PLACE(asker, amo.asker);
LINK_SAME_PLACE(asker, change.asker);
LINK_SAME_PLACE(asker, region.asker);
LINK_SAME_PLACE(asker, key.asker);
LINK_SAME_PLACE(answer.asker, flushed.asker);
LINK_SAME_PLACE(answer.asker, keyed.asker);
#undef LINK_SAME_PLACE

#define LINK_BATCH_BYTES ((size_t)32 << 10) /* of a batch at most; below the size from which transports ask first */
#define LINK_ADDRESS 4096                   /* bytes of a transport's address at most */

#endif
