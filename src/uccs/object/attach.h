/* Dynamic memory: a memory object whose ranges its owner attaches and detaches. An offset is an address in the owner.
 *
 * The owner keeps the ranges in a table in the node's memory, so its node peers find a range without its help; peers of
 * other nodes send the address, and the owner looks it up when the message arrives. A table is sorted by address and
 * its ranges do not overlap.
 *
 * Many threads and processes read a table while its owner changes it. The version is odd during a change; a reader that
 * finds the same even version before and after has read one state, else it reads again. Its loads are acquire loads, so
 * that they stay between the two looks at the version; the owner's stores are release stores, so that none of them is
 * seen before the odd version. A table that has become too small stays until the object ends, so that a reader never
 * leaves the table's memory.
 *
 * The domain of a byte is the same in every object: the processor executes atomics on memory that the node maps, and a
 * lock guards atomics on other memory. */
#ifndef UCCS_OBJECT_ATTACH_H
#define UCCS_OBJECT_ATTACH_H

#include "uccs/object/region.h"

/* A table's head, in the owner's room for memory. */
struct uccs_attached {
    cache_aligned uint64_t version;
    uint64_t ranges; /* offset of the first struct uccs_attached_range in the owner's region */
    uint64_t count;
    uint64_t room;  /* ranges for which there is memory; the owner alone uses this and `spent` */
    uint64_t spent; /* offset of the former, smaller table, which begins with the offset of the one before it; or 0 */
};

struct uccs_attached_range {
    uint64_t start, bytes;   /* in the owner */
    uint64_t segment, where; /* see uccs_region_locate */
};

/* The part of an operation that lies in ranges which follow each other in the owner and in this process. */
struct uccs_attached_piece {
    size_t bytes; /* from the operation's start to the end of these ranges or of the operation */
    char *near;   /* address in this process; null when it does not map the memory */
    bool mapped;  /* the processor executes atomics */
};

/* Returns an empty table of this process, or null when its room is full. */
struct uccs_attached *uccs_attached_create(void);
/* No operation uses the table any more. */
void uccs_attached_destroy(struct uccs_attached *table);

/* Return UCCS_OK; UCCS_ERR_INVALID when the range overlaps an attached one or is mapped in part, or when no range
 * begins at `start`; UCCS_ERR_NO_MEMORY. Any thread of the owner. */
int uccs_attached_add(struct uccs_attached *table, const void *start, size_t bytes);
int uccs_attached_remove(struct uccs_attached *table, const void *start);

/* Returns true when ranges without gaps between them cover [start, start + bytes). The owner calls it. */
bool uccs_attached_covers(const struct uccs_attached *table, uint64_t start, size_t bytes);

/* Finds the first piece of an operation on dynamic memory of a PE of this node. Returns UCCS_OK, or UCCS_ERR_BOUNDS when
 * no range begins the operation. */
int uccs_attached_find(const struct uccs_attached *table, int owner, uint64_t start, size_t bytes,
                       struct uccs_attached_piece *piece);

/* Fills what a view says of the range that holds an address. Returns UCCS_OK or UCCS_ERR_BOUNDS. */
int uccs_attached_view(const struct uccs_attached *table, int owner, uint64_t address, struct uccs_view *view);

#endif
