/* Address-ordered first fit over all blocks of a heap, live and free.
 *
 * Every byte of [0, size) belongs to exactly one block, and no two neighbours are free. The blocks are a treap by offset: a
 * block's priority is at least its children's, and its `fit` is the longest free block of its subtree, so the lowest block
 * that fits is found in O(log n), as is the block around any offset. Priorities come from indices, never from an address or
 * a clock, so processes that make the same calls hold the same tree. Index 0 is none: its fit is 0. */
#include "base/heap.h"

#include <stdlib.h>

#define GRAIN 16u        /* offsets and sizes are multiples of it */
#define LINE 64u         /* blocks of at least this size own their cache lines */
#define REMEMBERED 4096u /* recently freed offsets, to tell a double free from a foreign pointer */
#define MISSES 32        /* misaligned candidates before search_free takes a larger block */

typedef uint32_t node;

struct block {
    size_t offset, size;
    size_t fit;
    node left, right; /* left: of an unused block, the next unused one */
    bool live;
};

struct heap {
    size_t size;
    struct block *block;
    node root, unused;
    uint32_t blocks, unused_count; /* of all; of the unused ones */
    size_t used, peak, top, live;
    size_t *freed; /* REMEMBERED of them, offset + 1 (0: none); null before the first free, or without memory */
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- the tree ---- */

static uint32_t priority(node i)
{
    uint32_t x = i * 0x9e3779b9u;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

static size_t fit_of(const struct heap *h, node i)
{
    const struct block *b = &h->block[i];
    return max_size(b->live ? 0 : b->size, max_size(h->block[b->left].fit, h->block[b->right].fit));
}

/* Reserves `count` more blocks, so that the calls that follow cannot fail half-way. May move the blocks. Returns false
 * without memory. */
static bool reserve(struct heap *h, uint32_t count)
{
    if (h->unused_count >= count)
        return true;
    if (h->blocks > UINT32_MAX / 2)
        return false;
    const uint32_t grown = h->blocks ? 2 * h->blocks : 64, first = h->blocks ? h->blocks : 1;
    struct block *more = realloc(h->block, grown * sizeof *more);
    if (!more)
        return false;
    h->block = more;
    if (!h->blocks)
        more[0] = (struct block){0};
    for (node i = grown; i-- > first;) {
        more[i] = (struct block){.left = h->unused};
        h->unused = i;
    }
    h->unused_count += grown - first;
    h->blocks = grown;
    return true;
}

/* Divides a subtree: *below gets the blocks below an offset, *above the others. */
static void split(struct heap *h, node i, size_t offset, node *below, node *above)
{
    *below = *above = 0;
    if (!i)
        return;
    struct block *b = &h->block[i];
    if (b->offset < offset) {
        *below = i;
        split(h, b->right, offset, &b->right, above);
    } else {
        *above = i;
        split(h, b->left, offset, below, &b->left);
    }
    b->fit = fit_of(h, i);
}

/* Joins two subtrees; all blocks of the first lie below those of the second. */
static node join_trees(struct heap *h, node below, node above)
{
    if (!below || !above)
        return below | above;
    const bool first = priority(below) >= priority(above);
    const node top = first ? below : above;
    struct block *b = &h->block[top];
    if (first)
        b->right = join_trees(h, b->right, above);
    else
        b->left = join_trees(h, below, b->left);
    b->fit = fit_of(h, top);
    return top;
}

static void insert_below(struct heap *h, node *at, node fresh)
{
    struct block *b = &h->block[*at], *new = &h->block[fresh];
    if (*at && priority(*at) >= priority(fresh)) {
        insert_below(h, new->offset < b->offset ? &b->left : &b->right, fresh);
    } else {
        split(h, *at, new->offset, &new->left, &new->right);
        *at = fresh;
    }
    h->block[*at].fit = fit_of(h, *at);
}

/* Adds a block, which the caller has reserved. */
static void insert(struct heap *h, size_t offset, size_t size, bool live)
{
    const node i = h->unused;
    h->unused = h->block[i].left;
    h->unused_count--;
    h->block[i] = (struct block){.offset = offset, .size = size, .live = live};
    insert_below(h, &h->root, i);
}

/* Removes the block at an offset from a subtree that holds it. */
static void remove_below(struct heap *h, node *at, size_t offset)
{
    const node i = *at;
    struct block *b = &h->block[i];
    if (b->offset != offset) {
        remove_below(h, offset < b->offset ? &b->left : &b->right, offset);
        b->fit = fit_of(h, i);
        return;
    }
    *at = join_trees(h, b->left, b->right);
    *b = (struct block){.left = h->unused};
    h->unused = i;
    h->unused_count++;
}

/* Corrects `fit` from a block of a subtree up, after a change of its size or of `live`. */
static void refit(struct heap *h, node i, size_t offset)
{
    struct block *b = &h->block[i];
    if (b->offset != offset)
        refit(h, offset < b->offset ? b->left : b->right, offset);
    b->fit = fit_of(h, i);
}

/* Returns the block around an offset below the size of the heap. */
static node find_block(const struct heap *h, size_t offset)
{
    node best = 0;
    for (node i = h->root; i;) {
        const bool below = h->block[i].offset <= offset;
        best = below ? i : best;
        i = below ? h->block[i].right : h->block[i].left;
    }
    return best;
}

/* Returns the neighbour behind a block, or 0. */
static node next_of(const struct heap *h, node i)
{
    const size_t end = h->block[i].offset + h->block[i].size;
    return end < h->size ? find_block(h, end) : 0;
}

/* Returns the lowest free block of at least `size` bytes of a subtree, not below an offset; 0: none. */
static node first_fit(const struct heap *h, node i, size_t size, size_t from)
{
    const struct block *b = &h->block[i];
    if (b->fit < size)
        return 0;
    const node below = b->offset > from ? first_fit(h, b->left, size, from) : 0;
    if (below)
        return below;
    return b->offset >= from && !b->live && b->size >= size ? i : first_fit(h, b->right, size, from);
}

/* ---- placing and joining ---- */

static size_t round_up(size_t x, size_t align)
{
    return (x + align - 1) & ~(align - 1);
}

static bool holds_aligned(const struct block *b, size_t size, size_t align)
{
    size_t gap = round_up(b->offset, align) - b->offset;
    return b->size >= gap + size; /* both are at most the heap */
}

/* Returns the lowest block that fits, or 0. Skips blocks that are long enough but badly aligned. After MISSES of those
 * it takes the lowest block that is long enough for any alignment; if there is none, the search goes on. */
static node search_free(const struct heap *h, size_t size, size_t align)
{
    int misses = 0;
    for (node i = first_fit(h, h->root, size, 0); i; i = first_fit(h, h->root, size, h->block[i].offset + 1)) {
        if (holds_aligned(&h->block[i], size, align))
            return i;
        if (++misses == MISSES) {
            const node roomy = first_fit(h, h->root, size + align - GRAIN, 0);
            if (roomy)
                return roomy;
        }
    }
    return 0;
}

/* Makes [start, start + size) of free block i live. Uses at most two new blocks, which the caller has reserved. */
static void carve(struct heap *h, node i, size_t start, size_t size)
{
    struct block *b = &h->block[i];
    const size_t first = b->offset, end = first + b->size;
    b->live = start == first;
    b->size = b->live ? size : start - first;
    refit(h, h->root, first);
    if (start > first)
        insert(h, start, size, true);
    if (start + size < end)
        insert(h, start + size, end - start - size, false);
    h->used += size;
    h->live++;
    h->peak = max_size(h->peak, h->used);
    h->top = max_size(h->top, start + size);
}

static void remember_freed(struct heap *h, size_t offset)
{
    if (!h->freed)
        h->freed = calloc(REMEMBERED, sizeof *h->freed);
    if (h->freed)
        h->freed[(offset / GRAIN) % REMEMBERED] = offset + 1;
}

/* The reverse of carve: frees live block i and joins it with its neighbours. */
static void release_node(struct heap *h, node i)
{
    struct block *b = &h->block[i];
    const size_t offset = b->offset;
    const node next = next_of(h, i), prev = offset ? find_block(h, offset - 1) : 0;
    h->used -= b->size;
    h->live--;
    remember_freed(h, offset);
    b->live = false;
    if (next && !h->block[next].live) {
        b->size += h->block[next].size;
        remove_below(h, &h->root, h->block[next].offset);
    }
    if (prev && !h->block[prev].live) {
        h->block[prev].size += b->size;
        remove_below(h, &h->root, offset);
        i = prev;
    }
    refit(h, h->root, h->block[i].offset);
}

/* Applies the placement rules of heap.h to a request. Returns HEAP_OK, HEAP_BAD_ALIGNMENT or HEAP_NO_ROOM. */
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
        insert(h, 0, h->size, false);
    return h;
}

void heap_destroy(struct heap *h)
{
    if (!h)
        return;
    free(h->block);
    free(h->freed);
    free(h);
}

int heap_alloc(struct heap *h, size_t size, size_t align, size_t *offset)
{
    int status = normalise(h, &size, &align);
    if (status)
        return status;
    if (!reserve(h, 2))
        return HEAP_NO_BOOKS;
    node i = search_free(h, size, align);
    if (!i)
        return HEAP_NO_ROOM;
    size_t start = round_up(h->block[i].offset, align);
    carve(h, i, start, size);
    *offset = start;
    return HEAP_OK;
}

/* Finds the live block that starts at offset. Returns HEAP_OK, or the status that says why there is none. */
static int locate(const struct heap *h, size_t offset, node *found)
{
    if (offset >= h->size)
        return HEAP_OUTSIDE;
    node i = find_block(h, offset);
    if (h->block[i].live) {
        *found = i;
        return h->block[i].offset == offset ? HEAP_OK : HEAP_INSIDE;
    }
    bool freed = h->freed && h->freed[(offset / GRAIN) % REMEMBERED] == offset + 1;
    return freed ? HEAP_FREED : HEAP_NOT_ALLOCATED;
}

int heap_free(struct heap *h, size_t offset)
{
    node i;
    int status = locate(h, offset, &i);
    if (!status)
        release_node(h, i);
    return status;
}

int heap_size_of(const struct heap *h, size_t offset, size_t *size)
{
    node i;
    int status = locate(h, offset, &i);
    if (!status)
        *size = h->block[i].size;
    return status;
}

/* Frees the block and takes memory anew: where it was when that suffices, else the lowest that fits, or else the old memory. */
int heap_resize(struct heap *h, size_t offset, size_t size, size_t *new_offset)
{
    node i;
    size_t align = 0;
    int status = locate(h, offset, &i);
    if (!status)
        status = normalise(h, &size, &align);
    if (status)
        return status;
    if (!reserve(h, 4)) /* so that nothing below runs out of blocks */
        return HEAP_NO_BOOKS;
    const size_t old_size = h->block[i].size;
    release_node(h, i);
    const node around = find_block(h, offset);
    const size_t room = h->block[around].offset + h->block[around].size - offset;
    const bool stays = !(offset & (align - 1)) && size <= room;
    i = stays ? around : search_free(h, size, align);
    if (!i) {
        carve(h, around, offset, old_size);
        return HEAP_NO_ROOM;
    }
    *new_offset = stays ? offset : round_up(h->block[i].offset, align);
    carve(h, i, *new_offset, size);
    return HEAP_OK;
}

void heap_stats(const struct heap *h, struct heap_stats *stats)
{
    *stats = (struct heap_stats){
        .size = h->size,
        .used = h->used,
        .peak = h->peak,
        .top = h->top,
        .largest_free = h->block[h->root].fit,
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
    node i = offset < h->size ? find_block(h, offset) : 0;
    if (!h->block[i].live)
        return false;
    *start = h->block[i].offset;
    *size = h->block[i].size;
    return true;
}
