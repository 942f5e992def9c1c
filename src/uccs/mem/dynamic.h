/* Dynamic memory: a memory object whose ranges its owner attaches and detaches. An offset is an address in the owner.
 *
 * The owner keeps the ranges in a table in the node's memory, so its node peers find a range without its help; peers of
 * other nodes send the address, and the owner looks it up when the message arrives. The ranges do not overlap. They are a
 * treap: a search tree by address that is a heap by random ranks (Seidel and Aragon). So finding, attaching and
 * detaching a range take logarithmic time on average, whatever the order of addresses.
 *
 * Many threads and processes read a table while its owner changes it. The version is odd during a change; a reader that
 * finds the same even version before and after has read one state, else it reads again. Its loads are acquire loads, so
 * that they stay between the two looks at the version; the owner's stores are release stores, so that none of them is
 * seen before the odd version. A reader on its way down looks at the version at every step: links that change under it
 * might lead it in a circle. They never lead it out of the table's memory: a link is an index of the table that holds it,
 * and a table that has become too small stays as it is until the object ends.
 *
 * The domain of a byte is the same in every object: the processor executes atomics on memory that the node maps, and a
 * lock guards atomics on other memory. */
#ifndef UCCS_MEM_DYNAMIC_H
#define UCCS_MEM_DYNAMIC_H

#include "uccs/mem/region.h"

/* A table's head, in the owner's arena for memory. */
struct uccs_dynamic {
    cache_aligned uint64_t version;
    uint64_t ranges; /* offset of the table in the owner's region */
    uint32_t root;   /* index in the table, as all links are; 0: none */
    /* Only the owner uses these: */
    uint32_t capacity; /* the last index for which there is memory */
    uint32_t used;     /* the last index that was ever taken */
    uint32_t free;     /* the first of the free indices, which follow each other by `left`; or 0 */
};

/* The first entry of a table is no range: its `where` is the offset of the former, smaller table, or 0. */
struct uccs_dynamic_range {
    uint64_t start, bytes; /* in the owner */
    uint64_t where;        /* with the segment: see uccs_segment_locate */
    uint32_t segment;
    uint32_t left, right; /* of lower and of higher addresses */
    uint32_t rank;        /* not below those of both */
};

/* The part of an operation that lies in ranges which follow each other in the owner and in this process. */
struct uccs_dynamic_piece {
    size_t bytes; /* from the operation's start to the end of these ranges or of the operation */
    char *near;   /* address in this process; null when it does not map the memory */
    bool mapped;  /* the processor executes atomics */
};

/* Returns an empty table of this process, or null when its arena is full. */
struct uccs_dynamic *uccs_dynamic_create(void);
/* No operation uses the table any more. */
void uccs_dynamic_destroy(struct uccs_dynamic *table);

/* Return UCCS_OK; UCCS_ERR_INVALID when the range overlaps an attached one or is mapped in part, or when no range
 * begins at `start`; UCCS_ERR_NO_MEMORY. Any thread of the owner. Logarithmic in the number of ranges. */
int uccs_dynamic_add(struct uccs_dynamic *table, const void *start, size_t bytes);
int uccs_dynamic_remove(struct uccs_dynamic *table, const void *start);

/* Returns true when ranges without gaps between them cover [start, start + bytes) of a PE of this node. */
bool uccs_dynamic_covers(const struct uccs_dynamic *table, int owner, uint64_t start, size_t bytes);

/* Finds the first piece of an operation on dynamic memory of a PE of this node. Returns UCCS_OK, or UCCS_ERR_BOUNDS when
 * no range begins the operation. */
int uccs_dynamic_find(const struct uccs_dynamic *table, int owner, uint64_t start, size_t bytes,
                      struct uccs_dynamic_piece *piece);

/* Fills what a view says of the range that holds an address. Returns UCCS_OK or UCCS_ERR_BOUNDS. */
int uccs_dynamic_view(const struct uccs_dynamic *table, int owner, uint64_t address, struct uccs_view *view);

/* Copies by the kernel between processes of a node (process_vm_readv, process_vm_writev), for memory that is not
 * mapped. Any thread.
 *
 * Each process tests the copy once for each peer, since the kernel may refuse it (a container, Yama), and a pid of
 * another pid namespace may belong to another process here. For the test each PE publishes the address of a word and
 * its value (uccs_pe_shared). A process that reads this value at this address has found the PE. */

/* Publishes the word by which peers try the kernel's copy. Called at the first registration of memory that is not
 * mapped. Offers nothing with LATERAL_WIRE=messages. */
void uccs_cma_offer(void);
/* Returns true when the kernel copies between this process and the owner. Tried once for each owner. */
bool uccs_cma_reaches(const struct uccs_region *memory);

/* Copies by the kernel to or from memory that is not mapped here. Return UCCS_OK; UCCS_ERR_BOUNDS when the range is not
 * there; UCCS_ERR_UNREACHABLE when the kernel refuses. */
int uccs_cma_put(const struct uccs_region *memory, size_t offset, const void *source, size_t length);
int uccs_cma_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length);
/* Puts at most UCCS_CMA_PIECES pieces in one call of the kernel. Their `local` is where they are here. */
#define UCCS_CMA_PIECES 64
int uccs_cma_put_pieces(const struct uccs_region *memory, const struct uccs_piece *pieces, size_t n);

#endif
