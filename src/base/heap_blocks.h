/* All blocks of a heap, live and free, in a treap keyed by offset. Only heap.c uses it.
 *
 * Every byte of the heap belongs to exactly one block. Each node holds the longest free block of its subtree, so
 * finding the lowest block that fits takes O(log n), as does finding the block around any offset. Neighbours in address
 * order are linked. Node 0 is nil: its fit is 0 and nothing writes its links.
 *
 * No thread safety of its own. */
#ifndef BASE_HEAP_BLOCKS_H
#define BASE_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_GRAIN 16u /* offsets and sizes are multiples of it */

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

/* Reserves `count` more nodes, so that the calls that follow cannot fail half-way. May move `node`. Returns false when
 * there is no memory. */
bool heap_blocks_reserve(struct heap_blocks *t, uint32_t count);

/* Inserts a new free block right after `after` in address order (0: it is the only block) and returns it. The caller
 * has reserved the node. */
heap_node heap_blocks_insert(struct heap_blocks *t, heap_node after, size_t offset, size_t size);

/* Removes a block that is not the first. The caller has given its bytes to its neighbours already. */
void heap_blocks_remove(struct heap_blocks *t, heap_node i);

/* Corrects `fit` from node i up to the root after a change of its size or live. */
void heap_blocks_pull_up(struct heap_blocks *t, heap_node i);

/* Returns the block around an offset below the size of the heap. */
heap_node heap_blocks_find(const struct heap_blocks *t, size_t offset);

/* Return the lowest free block of at least `size` bytes in the subtree of i, and the next such block after i. 0:
 * none. */
heap_node heap_blocks_first_fit(const struct heap_blocks *t, heap_node i, size_t size);
heap_node heap_blocks_next_fit(const struct heap_blocks *t, heap_node i, size_t size);

/* Returns null, or a text that says what is wrong with this node. */
const char *heap_blocks_verify(const struct heap_blocks *t, heap_node i);

#endif
