/* A message between nodes is a header, then data. Both ends run the same build (the start checks it), so a header is
 * plain memory. Each kind of message has a struct of its own below; upper folders handle the kinds (proto.h). wire.def
 * says of each kind what a message of it may be, and validate.c refuses every other one where it enters.
 *
 * No address travels: an `handle` or `block` is a handle of the PE that has issued the message (handle.c). */
#ifndef UCCS_PROTO_WIRE_H
#define UCCS_PROTO_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum proto_wire_kind {
    WIRE_PUT,
    WIRE_PUT_BLOCKS,
    WIRE_PIECES, /* puts or accumulates to several places; the data is a struct proto_piece for each, then their bytes */
    WIRE_INTERNAL_PUT, /* a put of the library's, which is neither ordered nor counted */
    WIRE_GET,
    WIRE_GET_BLOCKS,
    WIRE_CHANGE, /* an atomic or an accumulate */
    WIRE_DATA,   /* answers a get, a change, import and gone */
    WIRE_FLUSH,
    WIRE_FLUSHED,
    WIRE_IMPORT,
    WIRE_GONE,
    WIRE_LOCK,
    WIRE_UNLOCK,
    WIRE_LOCKED, /* grants or refuses a lock */
    WIRE_AM,
    WIRE_AM_DONE,
    WIRE_KEY,   /* asks for the key of a piece of memory */
    WIRE_KEYED, /* the data is the key; no data: there is none */
    WIRE_HELLO, /* the data is the address of a worker that issues; answers go there */
    WIRE_BATCH, /* the data is small messages that leave together */
    WIRE_KINDS
};

/* Memory of the target that a message may name. */
enum proto_segment {
    PROTO_NOWHERE,
    PROTO_HEAP,
    PROTO_IMAGE,
    PROTO_REGION, /* memory registered at the target (region.h); the offset counts from its start */
    PROTO_ROWS,   /* the target's rows of the group area; offset = (slot * NODE_GROUP_LINES + line) * CACHE_LINE */
    PROTO_LANDING, /* memory that the target has opened for internal puts; offset = room * PROTO_LANDING_MOST + offset in it */
    PROTO_SEGMENTS
};

/* What the target does once the data is there. */
enum proto_notify_kind {
    PROTO_NOTIFY_NONE,
    PROTO_NOTIFY_COUNT,
    PROTO_NOTIFY_STALE,
    PROTO_SIGNAL_SET,
    PROTO_SIGNAL_ADD
}; /* PROTO_NOTIFY_STALE: old counter */

/* Memory of the target: an offset in the header's segment, and the region's number when the segment is a region. */
struct wire_memory {
    uint64_t offset, region;
};

/* What the target does once an operation is applied. A put has it in the header. In other operations `notices` of them
 * lie behind the data: 1 at most for a get, else 2. */
struct wire_notify {
    uint8_t what, signal_segment; /* what: enum proto_notify_kind */
    union {
        uint64_t counter, signal_offset;
    };
    union {
        int64_t weight;
        uint64_t signal_value;
    };
    uint64_t signal_region;
};

#define PROTO_REQUEST 0x8000u
#define PROTO_OPERAND 16 /* bytes of an operand that the header of a change holds; a longer one is the data */

struct wire_header {
    uint8_t kind;    /* enum proto_wire_kind */
    uint8_t segment; /* of `at`: enum proto_segment */
    uint16_t
        number; /* what a flush tells when the operation was refused: PROTO_REQUEST and above, a request's; below, a
                         * log's; 0: nothing */
    uint32_t from : 24; /* PE and worker that issued the message */
    uint32_t worker : 8;
    uint64_t after; /* the target applies this many operations of that worker first */
    union {
        struct {
            struct wire_memory at;
            union {
                struct wire_notify put; /* and internal put */
                struct {
                    uint64_t block; /* bytes */
                    int64_t stride;
                    uint8_t notices;
                } put_blocks;
                uint64_t
                    handle; /* handle of the pending request, the first word of all that are asked; the answer brings it back */
                struct {
                    uint64_t handle;
                    uint64_t bytes;
                    uint8_t notices;
                } get;
                struct {
                    uint64_t handle, block, count;
                    int64_t stride;
                } get_blocks;
                struct {
                    uint64_t handle; /* 0: nobody wants the old values */
                    unsigned char operand[PROTO_OPERAND];
                    uint32_t n; /* elements */
                    uint8_t type, how;
                    uint8_t notices;
                } change; /* struct uccs_accumulate_op */
                struct {
                    uint64_t none; /* 0 */
                    uint32_t n;    /* pieces */
                    uint8_t type, how, notices;
                    uint8_t puts; /* 1: they need not be atomic */
                } pieces;
                struct {
                    uint64_t handle;
                    uint8_t mode; /* enum uccs_lock_mode */
                } lock;           /* and unlock */
                struct {
                    uint64_t handle;
                } region; /* import and gone */
                struct {
                    uint64_t handle;
                    uint64_t counter; /* which puts with the key count; 0: none */
                } key;
            };
        };
        struct {
            uint64_t handle;
            unsigned char word[8]; /* up to 8 bytes of old values; more, and those of a get, are the data */
            uint64_t applied;      /* operations of the asking worker, this one with them; 0: not told */
            uint8_t failed;        /* the region has been released */
        } answer;                  /* of gets, changes, import, gone and lock */
        struct {
            uint64_t handle, start; /* address of the piece */
        } keyed;
        struct {
            uint64_t handle;
        } flush;
        struct {
            uint64_t handle;
        } flushed; /* the data is the numbers of refused operations, uint16_t each, no number twice */
        struct {
            uint64_t number, block, counter; /* number in its flow; the sender's block, or 0; counter, or 0 */
            int64_t weight;
            uint8_t context, ring, staged;
            uint16_t thread, id;
        } am;
        struct {
            uint64_t block, bytes;
            uint32_t count;
            uint16_t thread;
            uint8_t context, ring, failed;
        } am_done;
    };
};
_Static_assert(sizeof(struct wire_header) == 64, "no holes");

/* Handles lie in the same place in all that is asked, and in all answers. */
#define PROTO_SAME_PLACE(a, b) _Static_assert(offsetof(struct wire_header, a) == offsetof(struct wire_header, b), #b)
PROTO_SAME_PLACE(handle, get.handle);
PROTO_SAME_PLACE(handle, get_blocks.handle);
PROTO_SAME_PLACE(handle, change.handle);
PROTO_SAME_PLACE(handle, lock.handle);
PROTO_SAME_PLACE(handle, region.handle);
PROTO_SAME_PLACE(handle, key.handle);
PROTO_SAME_PLACE(answer.handle, flushed.handle);
PROTO_SAME_PLACE(answer.handle, keyed.handle);
#undef PROTO_SAME_PLACE

#define PROTO_BATCH_BYTES ((size_t)32 << 10) /* of a batch at most; below the size from which transports ask first */
#define PROTO_ADDRESS 4096                   /* bytes of a transport's address at most */

#endif
