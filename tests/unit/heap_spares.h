/* The books of a heap hand out every node but node 0, which stands for none, and no node twice. */
#ifndef TESTS_UNIT_HEAP_SPARES_H
#define TESTS_UNIT_HEAP_SPARES_H
#include "base/heap_blocks.h"

#include "unit/check.h"

static inline void spares_are(const struct heap_blocks *books, uint32_t first, uint32_t end)
{
    heap_node node = books->spare;
    CHECK(books->nodes == end && books->spares == end - first);
    for (uint32_t i = first; i < end; i++) {
        CHECK(node == i);
        node = books->node[node].next;
    }
    CHECK(node == 0);
}

static inline void test_spares(void)
{
    struct heap_blocks books = {0};
    CHECK(heap_blocks_reserve(&books, 0) && !books.node);
    CHECK(heap_blocks_reserve(&books, 2));
    spares_are(&books, 1, 64);
    CHECK(heap_blocks_insert(&books, 0, 0, 64) == 1 && books.root == 1);
    spares_are(&books, 2, 64);
    CHECK(heap_blocks_reserve(&books, 62)); /* as many as there are */
    spares_are(&books, 2, 64);
    for (heap_node i = 2; i < 64; i++)
        CHECK(heap_blocks_insert(&books, i - 1, 64 * (size_t)(i - 1), 64) == i);
    CHECK(books.spares == 0 && heap_blocks_reserve(&books, 1));
    spares_are(&books, 64, 128);
    CHECK(books.node[63].prev == 62 && books.node[63].offset == 64 * 62); /* nodes in use stay */
    free(books.node);
}

#endif
