/* The treap of heap_blocks.h.
 *
 * A node's priority comes from its index, never from an address or a clock, so processes that make the same calls hold
 * the same tree. A node's priority is at least its children's, and its `fit` is the longest free block of its subtree
 * (heap_blocks_verify). */
#include "base/heap_blocks.h"

#include <stdlib.h>

static uint32_t priority(heap_node i)
{
    uint32_t x = i * 0x9e3779b9u;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void pull(struct heap_blocks *t, heap_node i)
{
    struct heap_block *b = &t->node[i];
    size_t own = b->live ? 0 : b->size;
    b->fit = max_size(own, max_size(t->node[b->left].fit, t->node[b->right].fit));
}

void heap_blocks_pull_up(struct heap_blocks *t, heap_node i)
{
    for (; i; i = t->node[i].up)
        pull(t, i);
}

/* Returns the link that holds node i: its parent's left or right, or the root. */
static heap_node *link_to(struct heap_blocks *t, heap_node i)
{
    heap_node up = t->node[i].up;
    if (!up)
        return &t->root;
    return t->node[up].left == i ? &t->node[up].left : &t->node[up].right;
}

/* Moves node i above its parent, keeping the order. */
static void rotate_up(struct heap_blocks *t, heap_node i)
{
    struct heap_block *n = t->node;
    heap_node p = n[i].up, inner;
    *link_to(t, p) = i;
    n[i].up = n[p].up;
    if (n[p].left == i) {
        inner = n[p].left = n[i].right;
        n[i].right = p;
    } else {
        inner = n[p].right = n[i].left;
        n[i].left = p;
    }
    if (inner)
        n[inner].up = p;
    n[p].up = i;
    pull(t, p);
}

bool heap_blocks_reserve(struct heap_blocks *t, uint32_t count)
{
    if (t->spares >= count)
        return true;
    if (t->nodes > UINT32_MAX / 2)
        return false;
    uint32_t grown = t->nodes ? 2 * t->nodes : 64;
    struct heap_block *node = realloc(t->node, grown * sizeof *node);
    if (!node)
        return false;
    t->node = node;
    if (!t->nodes)
        node[t->nodes++] = (struct heap_block){0};
    for (uint32_t i = grown; i-- > t->nodes;) {
        node[i] = (struct heap_block){.next = t->spare};
        t->spare = i;
    }
    t->spares += grown - t->nodes;
    t->nodes = grown;
    return true;
}

heap_node heap_blocks_insert(struct heap_blocks *t, heap_node after, size_t offset, size_t size)
{
    struct heap_block *n = t->node;
    heap_node i = t->spare;
    t->spare = n[i].next;
    t->spares--;
    n[i] = (struct heap_block){.offset = offset, .size = size, .fit = size, .prev = after};
    if (!after) {
        t->root = i;
        return i;
    }
    heap_node next = n[i].next = n[after].next;
    n[after].next = i;
    if (next)
        n[next].prev = i;
    if (!n[after].right) {
        n[after].right = i;
        n[i].up = after;
    } else { /* then `next` is the leftmost node there and has no left child */
        n[next].left = i;
        n[i].up = next;
    }
    while (n[i].up && priority(n[i].up) < priority(i))
        rotate_up(t, i);
    heap_blocks_pull_up(t, i);
    return i;
}

void heap_blocks_remove(struct heap_blocks *t, heap_node i)
{
    struct heap_block *n = t->node;
    while (n[i].left || n[i].right) {
        heap_node l = n[i].left, r = n[i].right;
        rotate_up(t, !r || (l && priority(l) >= priority(r)) ? l : r);
    }
    *link_to(t, i) = 0;
    heap_blocks_pull_up(t, n[i].up);
    if (n[i].prev)
        n[n[i].prev].next = n[i].next;
    if (n[i].next)
        n[n[i].next].prev = n[i].prev;
    n[i] = (struct heap_block){.next = t->spare};
    t->spare = i;
    t->spares++;
}

heap_node heap_blocks_find(const struct heap_blocks *t, size_t offset)
{
    heap_node best = 0;
    for (heap_node i = t->root; i;) {
        if (t->node[i].offset <= offset) {
            best = i;
            i = t->node[i].right;
        } else {
            i = t->node[i].left;
        }
    }
    return best;
}

static bool fits_itself(const struct heap_block *b, size_t size)
{
    return !b->live && b->size >= size;
}

heap_node heap_blocks_first_fit(const struct heap_blocks *t, heap_node i, size_t size)
{
    const struct heap_block *n = t->node;
    if (n[i].fit < size)
        return 0;
    for (;;) {
        if (n[n[i].left].fit >= size)
            i = n[i].left;
        else if (fits_itself(&n[i], size))
            return i;
        else
            i = n[i].right;
    }
}

heap_node heap_blocks_next_fit(const struct heap_blocks *t, heap_node i, size_t size)
{
    const struct heap_block *n = t->node;
    if (n[n[i].right].fit >= size)
        return heap_blocks_first_fit(t, n[i].right, size);
    for (heap_node up = n[i].up; up; i = up, up = n[i].up) {
        if (n[up].left != i)
            continue;
        if (fits_itself(&n[up], size))
            return up;
        if (n[n[up].right].fit >= size)
            return heap_blocks_first_fit(t, n[up].right, size);
    }
    return 0;
}

const char *heap_blocks_verify(const struct heap_blocks *t, heap_node i)
{
    const struct heap_block *n = t->node, *b = &n[i];
    size_t own = b->live ? 0 : b->size;
    if (b->fit != max_size(own, max_size(n[b->left].fit, n[b->right].fit)))
        return "a subtree's longest free block is wrong";
    if ((b->left && (n[b->left].up != i || n[b->left].offset >= b->offset || priority(b->left) > priority(i))) ||
        (b->right && (n[b->right].up != i || n[b->right].offset <= b->offset || priority(b->right) > priority(i))))
        return "the tree is out of order";
    if (!b->size || b->offset % HEAP_GRAIN || b->size % HEAP_GRAIN)
        return "a block is empty or not a multiple of the grain";
    if (b->next && (n[b->next].prev != i || n[b->next].offset != b->offset + b->size))
        return "neighbours do not touch";
    if (b->next && !b->live && !n[b->next].live)
        return "two neighbours are free";
    return NULL;
}
