/* Deterministic allocator over a range of offsets [0, size): the symmetric heap.
 *
 * It never touches the memory that it hands out. All its bookkeeping is private, so a stray store of the program cannot
 * corrupt it, and a heap of 1 TiB costs 48 bytes per block, not per page. The same calls in the same order give the
 * same offsets in every process.
 *
 * Threads: the heap has no lock; the caller serialises calls on one heap.
 *
 * A block goes to the lowest address that fits, which keeps the first pages dense. Blocks of 64 bytes and more start on
 * a cache line and own their lines. Smaller blocks are multiples of 16 and share lines only among themselves. An
 * alignment applies to offsets; it holds for addresses as far as the base of the heap is aligned. */
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
    HEAP_INSIDE,        /* the offset points into a live block, not at its start */
    HEAP_NOT_ALLOCATED, /* no live block starts there */
    HEAP_FREED,         /* a block started there and was freed: a double free */
};

struct heap_stats {
    size_t size;         /* of the heap */
    size_t used;         /* in live blocks, rounding included */
    size_t peak;         /* the most that was ever in use */
    size_t top;          /* end of the highest block ever handed out; pages above were never needed */
    size_t largest_free; /* longest free range, before alignment */
    size_t live;         /* blocks */
};

/* Returns null when private memory is exhausted. Leaves out the bytes beyond the last multiple of 64. */
struct heap *heap_create(size_t size);
void heap_destroy(struct heap *heap);

/* align 0 takes the default: 16 for sizes below 64 bytes, else 64. size 0 counts as 1; the caller decides what it
 * means. heap_alloc sets *offset on success only. All functions here that return int return an enum heap_status. */
int heap_alloc(struct heap *heap, size_t size, size_t align, size_t *offset);

int heap_free(struct heap *heap, size_t offset);

/* Gives the usable size of a live block. */
int heap_size_of(const struct heap *heap, size_t offset, size_t *size);

/* Gives the block new_size bytes, in place when possible. When *new_offset differs, the heap has freed the old block
 * already and the two may overlap: the caller moves min(old, new) bytes by memmove before its next call on this heap.
 * On failure nothing has changed. */
int heap_resize(struct heap *heap, size_t offset, size_t new_size, size_t *new_offset);

void heap_stats(const struct heap *heap, struct heap_stats *stats);

/* Returns the status as the end of a sentence: "... points into a block, not at its start". */
const char *heap_reason(int status);

/* Finds the live block around an offset, for messages. Returns false when there is none. */
bool heap_around(const struct heap *heap, size_t offset, size_t *start, size_t *size);

#endif
