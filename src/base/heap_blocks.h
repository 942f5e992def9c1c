/* All blocks of a heap, live and free, in a treap keyed by offset: inside of heap.c.
 *
 * Every byte of the heap belongs to exactly one block. Each node knows the longest free block of its
 * subtree, so the lowest block that fits is found in O(log n), as is the block around any offset.
 * Neighbours in address order are linked. Node 0 is nil: its fit is 0 and nothing writes its links.
 *
 * No thread safety of its own. */
#ifndef BASE_HEAP_BLOCKS_H
#define BASE_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_GRAIN 16u /* offsets and sizes are multiples */

typedef uint32_t heap_node;

struct heap_block {
    size_t offset, size;
    size_t fit; /* longest free block of this subtree */
    heap_node left, right, up;
    heap_node prev, next; /* neighbours in address order */
    uint32_t live;
};

struct heap_blocks {
    struct heap_block *node;
    heap_node root, spare; /* spare: unused nodes, linked by next */
    uint32_t spares, nodes;
};

/* Room for `count` more nodes, so that what follows cannot fail half-way. May move `node`. */
bool heap_blocks_reserve(struct heap_blocks *t, uint32_t count);

/* A new free block that becomes the next in address order after `after` (0: the only block). The
 * node was reserved. */
heap_node heap_blocks_insert(struct heap_blocks *t, heap_node after, size_t offset, size_t size);

/* A block that is not the first; its bytes have gone to its neighbours already. */
void heap_blocks_remove(struct heap_blocks *t, heap_node i);

/* After a change of size or live of node i. */
void heap_blocks_pull_up(struct heap_blocks *t, heap_node i);

/* The block around an offset below the size of the heap. */
heap_node heap_blocks_find(const struct heap_blocks *t, size_t offset);

/* The lowest free block of at least `size` bytes in the subtree of i; then the next one after i. 0: none. */
heap_node heap_blocks_first_fit(const struct heap_blocks *t, heap_node i, size_t size);
heap_node heap_blocks_next_fit(const struct heap_blocks *t, heap_node i, size_t size);

/* Null, or what is wrong with this node. */
const char *heap_blocks_verify(const struct heap_blocks *t, heap_node i);

#endif
