/* Address-ordered first fit over a treap of all blocks, live and free.
 *
 * Every byte of [0, size) belongs to exactly one block. The treap is keyed by offset; each node knows
 * the longest free block of its subtree (`fit`), so the lowest block that fits is found in O(log n), as
 * is the block around any offset. Blocks are also linked in address order, for coalescing.
 *
 * Invariants (heap_verify): neighbours touch; no two neighbours are free; a node's priority is at least its
 * children's; fit is right. Priorities come from the node's index, never from an address or a clock, so
 * that processes which make the same calls hold the same tree.
 *
 * Node 0 is nil: its fit is 0 and nothing ever writes its links. */
#include "base/heap.h"

#include <stdlib.h>

#define GRAIN 16u
#define LINE 64u
#define REMEMBERED 4096u /* recently freed offsets, to tell a double free from a foreign pointer */
#define MISSES 32        /* misaligned candidates before a larger block is taken instead */

typedef uint32_t node_index;

struct block {
    size_t offset, size;
    size_t fit;
    node_index left, right, up;
    node_index prev, next;
    uint32_t live;
};

struct heap {
    size_t size;
    struct block *node;
    node_index root, spare; /* spare: free nodes, linked by next */
    uint32_t spares, nodes;
    size_t used, peak, top, live;
    size_t freed[REMEMBERED]; /* offset + 1; 0 is none */
};

static uint32_t priority(node_index i)
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

static void pull(struct heap *h, node_index i)
{
    struct block *b = &h->node[i];
    size_t own = b->live ? 0 : b->size;
    b->fit = max_size(own, max_size(h->node[b->left].fit, h->node[b->right].fit));
}

static void pull_up(struct heap *h, node_index i)
{
    for (; i; i = h->node[i].up)
        pull(h, i);
}

/* The link that holds node i: its parent's left or right, or the root. */
static node_index *link_to(struct heap *h, node_index i)
{
    node_index up = h->node[i].up;
    if (!up)
        return &h->root;
    return h->node[up].left == i ? &h->node[up].left : &h->node[up].right;
}

/* Moves node i above its parent, keeping the order. */
static void rotate_up(struct heap *h, node_index i)
{
    struct block *n = h->node;
    node_index p = n[i].up, inner;
    *link_to(h, p) = i;
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
    pull(h, p);
}

/* Room for `count` more nodes, so that what follows cannot fail half-way. */
static bool reserve(struct heap *h, uint32_t count)
{
    if (h->spares >= count)
        return true;
    if (h->nodes > UINT32_MAX / 2)
        return false;
    uint32_t grown = h->nodes ? 2 * h->nodes : 64;
    struct block *node = realloc(h->node, grown * sizeof *node);
    if (!node)
        return false;
    h->node = node;
    if (!h->nodes)
        node[h->nodes++] = (struct block){0};
    for (uint32_t i = grown; i-- > h->nodes;) {
        node[i] = (struct block){.next = h->spare};
        h->spare = i;
    }
    h->spares += grown - h->nodes;
    h->nodes = grown;
    return true;
}

/* A new free block that becomes the next in address order after `after` (0: the only block). */
static node_index insert_after(struct heap *h, node_index after, size_t offset, size_t size)
{
    struct block *n = h->node;
    node_index i = h->spare;
    h->spare = n[i].next;
    h->spares--;
    n[i] = (struct block){.offset = offset, .size = size, .fit = size, .prev = after};
    if (!after) {
        h->root = i;
        return i;
    }
    node_index next = n[i].next = n[after].next;
    n[after].next = i;
    if (next)
        n[next].prev = i;
    if (!n[after].right) {
        n[after].right = i;
        n[i].up = after;
    } else { /* then `next` is the leftmost node there, and has no left child */
        n[next].left = i;
        n[i].up = next;
    }
    while (n[i].up && priority(n[i].up) < priority(i))
        rotate_up(h, i);
    pull_up(h, i);
    return i;
}

static void remove_node(struct heap *h, node_index i)
{
    struct block *n = h->node;
    while (n[i].left || n[i].right) {
        node_index l = n[i].left, r = n[i].right;
        rotate_up(h, !r || (l && priority(l) >= priority(r)) ? l : r);
    }
    *link_to(h, i) = 0;
    pull_up(h, n[i].up);
    if (n[i].prev)
        n[n[i].prev].next = n[i].next;
    if (n[i].next)
        n[n[i].next].prev = n[i].prev;
    n[i] = (struct block){.next = h->spare};
    h->spare = i;
    h->spares++;
}

/* The block around an offset below the size of the heap. */
static node_index find(const struct heap *h, size_t offset)
{
    node_index best = 0;
    for (node_index i = h->root; i;) {
        if (h->node[i].offset <= offset) {
            best = i;
            i = h->node[i].right;
        } else {
            i = h->node[i].left;
        }
    }
    return best;
}

static bool fits_itself(const struct block *b, size_t size)
{
    return !b->live && b->size >= size;
}

/* The lowest free block of at least `size` bytes in the subtree of i. */
static node_index first_fit(const struct heap *h, node_index i, size_t size)
{
    const struct block *n = h->node;
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

static node_index next_fit(const struct heap *h, node_index i, size_t size)
{
    const struct block *n = h->node;
    if (n[n[i].right].fit >= size)
        return first_fit(h, n[i].right, size);
    for (node_index up = n[i].up; up; i = up, up = n[i].up) {
        if (n[up].left != i)
            continue;
        if (fits_itself(&n[up], size))
            return up;
        if (n[n[up].right].fit >= size)
            return first_fit(h, n[up].right, size);
    }
    return 0;
}

static size_t round_up(size_t x, size_t align)
{
    return (x + align - 1) & ~(align - 1);
}

static bool holds_aligned(const struct block *b, size_t size, size_t align)
{
    size_t gap = round_up(b->offset, align) - b->offset;
    return gap <= b->size && b->size - gap >= size;
}

/* Lowest fit. Blocks that are long enough but lie badly are passed over; after many of those, one
 * that is long enough however it lies is as good, and only when there is none the search goes on. */
static node_index search(const struct heap *h, size_t size, size_t align)
{
    int misses = 0;
    for (node_index i = first_fit(h, h->root, size); i; i = next_fit(h, i, size)) {
        if (holds_aligned(&h->node[i], size, align))
            return i;
        if (++misses == MISSES) {
            node_index roomy = first_fit(h, h->root, size + align - GRAIN);
            if (roomy)
                return roomy;
        }
    }
    return 0;
}

/* Makes [start, start + size) of free block i live. At most two new nodes, reserved by the caller. */
static void carve(struct heap *h, node_index i, size_t start, size_t size)
{
    size_t end = h->node[i].offset + h->node[i].size;
    if (start > h->node[i].offset) {
        h->node[i].size = start - h->node[i].offset;
        pull_up(h, i);
        i = insert_after(h, i, start, end - start);
    }
    h->node[i].size = size;
    h->node[i].live = 1;
    pull_up(h, i);
    if (start + size < end)
        insert_after(h, i, start + size, end - start - size);
    h->used += size;
    h->live++;
    h->peak = max_size(h->peak, h->used);
    h->top = max_size(h->top, start + size);
}

/* The reverse: frees live block i and joins it with its neighbours. */
static void release(struct heap *h, node_index i)
{
    struct block *n = h->node;
    node_index prev = n[i].prev, next = n[i].next;
    h->used -= n[i].size;
    h->live--;
    h->freed[(n[i].offset / GRAIN) % REMEMBERED] = n[i].offset + 1;
    n[i].live = 0;
    if (next && !n[next].live) {
        n[i].size += n[next].size;
        remove_node(h, next);
    }
    if (prev && !n[prev].live) {
        n[prev].size += n[i].size;
        remove_node(h, i);
        i = prev;
    }
    pull_up(h, i);
}

/* Applies the placement rules of heap.h to a request. */
static int normalise(const struct heap *h, size_t *size, size_t *align)
{
    if (*align & (*align - 1))
        return HEAP_BAD_ALIGNMENT;
    if (*size > h->size || *align > h->size)
        return HEAP_NO_ROOM;
    if (!*size)
        *size = 1;
    size_t unit = *size >= LINE || *align >= LINE ? LINE : GRAIN;
    *size = round_up(*size, unit);
    *align = max_size(*align, unit);
    return HEAP_OK;
}

struct heap *heap_create(size_t size)
{
    struct heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    if (!reserve(h, 4)) {
        free(h);
        return NULL;
    }
    h->size = size & ~(size_t)(LINE - 1);
    if (h->size)
        insert_after(h, 0, 0, h->size);
    return h;
}

void heap_destroy(struct heap *h)
{
    if (h)
        free(h->node);
    free(h);
}

int heap_alloc(struct heap *h, size_t size, size_t align, size_t *offset)
{
    int status = normalise(h, &size, &align);
    if (status)
        return status;
    if (!reserve(h, 2))
        return HEAP_NO_BOOKS;
    node_index i = search(h, size, align);
    if (!i)
        return HEAP_NO_ROOM;
    size_t start = round_up(h->node[i].offset, align);
    carve(h, i, start, size);
    *offset = start;
    return HEAP_OK;
}

/* The live block that starts at offset, or why there is none. */
static int locate(const struct heap *h, size_t offset, node_index *found)
{
    if (offset >= h->size)
        return HEAP_OUTSIDE;
    node_index i = find(h, offset);
    if (h->node[i].live) {
        *found = i;
        return h->node[i].offset == offset ? HEAP_OK : HEAP_INSIDE;
    }
    bool freed = h->freed[(offset / GRAIN) % REMEMBERED] == offset + 1;
    return freed ? HEAP_FREED : HEAP_NOT_ALLOCATED;
}

int heap_free(struct heap *h, size_t offset)
{
    node_index i;
    int status = locate(h, offset, &i);
    if (!status)
        release(h, i);
    return status;
}

int heap_size_of(const struct heap *h, size_t offset, size_t *size)
{
    node_index i;
    int status = locate(h, offset, &i);
    if (!status)
        *size = h->node[i].size;
    return status;
}

/* Gives the end of live block i back. One new node at most. */
static void shrink(struct heap *h, node_index i, size_t size)
{
    struct block *n = h->node;
    size_t rest = n[i].size - size;
    node_index next = n[i].next;
    if (!rest)
        return;
    n[i].size = size;
    h->used -= rest;
    if (next && !n[next].live) {
        n[next].offset -= rest;
        n[next].size += rest;
        pull_up(h, next);
    } else {
        insert_after(h, i, n[i].offset + size, rest);
    }
}

/* Extends live block i over the free block behind it, if that suffices. */
static bool extend(struct heap *h, node_index i, size_t size)
{
    struct block *n = h->node;
    size_t more = size - n[i].size;
    node_index next = n[i].next;
    if (!next || n[next].live || n[next].size < more)
        return false;
    n[i].size = size;
    n[next].offset += more;
    n[next].size -= more;
    if (n[next].size)
        pull_up(h, next);
    else
        remove_node(h, next);
    h->used += more;
    h->peak = max_size(h->peak, h->used);
    h->top = max_size(h->top, n[i].offset + size);
    return true;
}

/* Elsewhere; when there is no room beside the old block, over it. */
static int move(struct heap *h, node_index i, size_t size, size_t align, size_t *new_offset)
{
    size_t old = h->node[i].offset, old_size = h->node[i].size;
    if (heap_alloc(h, size, align, new_offset) == HEAP_OK) {
        release(h, find(h, old));
        return HEAP_OK;
    }
    release(h, i);
    if (heap_alloc(h, size, align, new_offset) == HEAP_OK)
        return HEAP_OK;
    carve(h, find(h, old), old, old_size);
    return HEAP_NO_ROOM;
}

int heap_resize(struct heap *h, size_t offset, size_t size, size_t *new_offset)
{
    node_index i;
    size_t align = 0;
    int status = locate(h, offset, &i);
    if (!status)
        status = normalise(h, &size, &align);
    if (status)
        return status;
    if (!reserve(h, 4)) /* then nothing below fails for want of a node */
        return HEAP_NO_BOOKS;
    if (offset & (align - 1))
        return move(h, i, size, align, new_offset);
    if (size <= h->node[i].size)
        shrink(h, i, size);
    else if (!extend(h, i, size))
        return move(h, i, size, align, new_offset);
    *new_offset = offset;
    return HEAP_OK;
}

void heap_stats(const struct heap *h, struct heap_stats *stats)
{
    *stats = (struct heap_stats){
        .size = h->size,
        .used = h->used,
        .peak = h->peak,
        .top = h->top,
        .largest_free = h->node[h->root].fit,
        .live = h->live,
    };
}

const char *heap_reason(int status)
{
    switch (status) {
    case HEAP_OK: return "is allocated";
    case HEAP_NO_ROOM: return "does not fit into the symmetric heap";
    case HEAP_NO_BOOKS: return "could not be recorded: private memory is exhausted";
    case HEAP_BAD_ALIGNMENT: return "has an alignment that is not a power of two";
    case HEAP_OUTSIDE: return "lies outside of the symmetric heap";
    case HEAP_INSIDE: return "points into a block, not at its start";
    case HEAP_FREED: return "was freed before";
    default: return "was never allocated";
    }
}

bool heap_around(const struct heap *h, size_t offset, size_t *start, size_t *size)
{
    node_index i = offset < h->size ? find(h, offset) : 0;
    if (!h->node[i].live)
        return false;
    *start = h->node[i].offset;
    *size = h->node[i].size;
    return true;
}

static const char *verify_node(const struct heap *h, node_index i)
{
    const struct block *n = h->node, *b = &n[i];
    size_t own = b->live ? 0 : b->size;
    if (b->fit != max_size(own, max_size(n[b->left].fit, n[b->right].fit)))
        return "a subtree's longest free block is wrong";
    if ((b->left && (n[b->left].up != i || n[b->left].offset >= b->offset || priority(b->left) > priority(i))) ||
        (b->right && (n[b->right].up != i || n[b->right].offset <= b->offset || priority(b->right) > priority(i))))
        return "the tree is out of order";
    if (!b->size || b->offset % GRAIN || b->size % GRAIN)
        return "a block is empty or not a multiple of the grain";
    if (b->next && (n[b->next].prev != i || n[b->next].offset != b->offset + b->size))
        return "neighbours do not touch";
    if (b->next && !b->live && !n[b->next].live)
        return "two neighbours are free";
    return NULL;
}

const char *heap_verify(const struct heap *h)
{
    size_t end = 0, used = 0, live = 0;
    node_index i = h->size ? find(h, 0) : 0;
    for (; i; i = h->node[i].next) {
        const char *wrong = verify_node(h, i);
        if (wrong)
            return wrong;
        end = h->node[i].offset + h->node[i].size;
        used += h->node[i].live ? h->node[i].size : 0;
        live += h->node[i].live;
    }
    if (end != h->size)
        return "the blocks do not cover the heap";
    return used == h->used && live == h->live ? NULL : "the statistics are wrong";
}
