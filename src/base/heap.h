/* Deterministic allocator over a range of offsets [0, size): the symmetric heap.
 *
 * It never touches the memory that it hands out; all its bookkeeping is private, so a stray store of
 * the program cannot corrupt it, and a heap of 1 TiB costs 48 bytes per block, not per page. The
 * same calls in the same order give the same offsets in every process.
 *
 * Threads: none of its own; the caller serialises calls on one heap.
 *
 * Placement is the lowest address that fits, which keeps the first pages dense. Blocks of 64 bytes and
 * more start on a cache line and own their lines; smaller ones are multiples of 16 and share lines
 * among themselves only. An alignment is one of offsets: it holds for addresses as far as the base of the
 * heap is aligned. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;

enum heap_status {
    HEAP_OK = 0,
    HEAP_NO_ROOM,       /* no free range is large enough with that alignment */
    HEAP_NO_BOOKS,      /* private memory for the bookkeeping is exhausted */
    HEAP_BAD_ALIGNMENT, /* not a power of two */
    HEAP_OUTSIDE,       /* the offset lies beyond the heap */
    HEAP_INSIDE,        /* it points into a live block, not at its start */
    HEAP_NOT_ALLOCATED, /* no block is there */
    HEAP_FREED,         /* a block started there and was freed: a double free */
};

struct heap_stats {
    size_t size;         /* of the heap */
    size_t used;         /* in live blocks, rounding included */
    size_t peak;         /* the most that was ever in use */
    size_t top;          /* end of the highest block ever handed out: pages above were never needed */
    size_t largest_free; /* longest free range, before alignment */
    size_t live;         /* blocks */
};

/* Null when private memory is exhausted. The last bytes below a multiple of 64 are left out. */
struct heap *heap_create(size_t size);
void heap_destroy(struct heap *heap);

/* align 0 takes the default: 16 below 64 bytes, else 64. size 0 is the caller's business (it counts as 1).
 * *offset is set on success only. */
int heap_alloc(struct heap *heap, size_t size, size_t align, size_t *offset);

int heap_free(struct heap *heap, size_t offset);

/* The usable size of a live block. */
int heap_size_of(const struct heap *heap, size_t offset, size_t *size);

/* Gives the block new_size bytes, in place when it can. When *new_offset differs, the old block is
 * free already and the two may overlap: the caller moves min(old, new) bytes by memmove before its next
 * call on this heap. On failure nothing has changed. */
int heap_resize(struct heap *heap, size_t offset, size_t new_size, size_t *new_offset);

void heap_stats(const struct heap *heap, struct heap_stats *stats);

/* The status as the end of a sentence: "... points into a block, not at its start". */
const char *heap_reason(int status);

/* The live block around an offset: for messages. False when there is none. */
bool heap_around(const struct heap *heap, size_t offset, size_t *start, size_t *size);

/* Verifies every invariant of the bookkeeping; for tests. Null, or what is wrong. */
const char *heap_verify(const struct heap *heap);

#endif
