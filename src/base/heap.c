/* Address-ordered first fit over all blocks of a heap (heap_blocks.h). This file places and joins blocks and reports
 * errors.
 *
 * Invariants (heap_verify): the blocks cover [0, size) and touch; no two neighbours are free; the statistics are those
 * of the live blocks. Nothing depends on an address, a clock or a process. */
#include "base/heap.h"

#include "base/heap_blocks.h"

#include <stdlib.h>

#define LINE 64u         /* blocks of at least this size own their cache lines */
#define REMEMBERED 4096u /* recently freed offsets, to tell a double free from a foreign pointer */
#define MISSES 32        /* misaligned candidates before search takes a larger block */

struct heap {
    size_t size;
    struct heap_blocks blocks;
    size_t used, peak, top, live;
    size_t *freed; /* REMEMBERED of them, offset + 1 (0: none); null before the first free, or without memory */
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t round_up(size_t x, size_t align)
{
    return (x + align - 1) & ~(align - 1);
}

static bool holds_aligned(const struct heap_block *b, size_t size, size_t align)
{
    size_t gap = round_up(b->offset, align) - b->offset;
    return b->size >= gap + size; /* both are at most the heap */
}

/* Returns the lowest block that fits, or 0. Skips blocks that are long enough but badly aligned. After MISSES of those
 * it takes the lowest block that is long enough for any alignment; if there is none, the search goes on. */
static heap_node search(const struct heap *h, size_t size, size_t align)
{
    int misses = 0;
    for (heap_node i = heap_blocks_first_fit(&h->blocks, h->blocks.root, size); i;
         i = heap_blocks_next_fit(&h->blocks, i, size)) {
        if (holds_aligned(&h->blocks.node[i], size, align))
            return i;
        if (++misses == MISSES) {
            heap_node roomy = heap_blocks_first_fit(&h->blocks, h->blocks.root, size + align - HEAP_GRAIN);
            if (roomy)
                return roomy;
        }
    }
    return 0;
}

/* Makes [start, start + size) of free block i live. Uses at most two new nodes, which the caller has reserved. */
static void carve(struct heap *h, heap_node i, size_t start, size_t size)
{
    size_t end = h->blocks.node[i].offset + h->blocks.node[i].size;
    if (start > h->blocks.node[i].offset) {
        h->blocks.node[i].size = start - h->blocks.node[i].offset;
        i = heap_blocks_insert(&h->blocks, i, start, end - start);
    }
    h->blocks.node[i].size = size;
    h->blocks.node[i].live = 1;
    heap_blocks_pull_up(&h->blocks, i);
    if (start + size < end)
        heap_blocks_insert(&h->blocks, i, start + size, end - start - size);
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
        h->freed[(offset / HEAP_GRAIN) % REMEMBERED] = offset + 1;
}

/* The reverse of carve: frees live block i and joins it with its neighbours. */
static void release(struct heap *h, heap_node i)
{
    struct heap_block *n = h->blocks.node;
    heap_node prev = n[i].prev, next = n[i].next;
    h->used -= n[i].size;
    h->live--;
    remember_freed(h, n[i].offset);
    n[i].live = 0;
    if (next && !n[next].live) {
        n[i].size += n[next].size;
        heap_blocks_remove(&h->blocks, next);
    }
    if (prev && !n[prev].live) {
        n[prev].size += n[i].size;
        heap_blocks_remove(&h->blocks, i);
        i = prev;
    }
    heap_blocks_pull_up(&h->blocks, i);
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
    size_t unit = *size >= LINE || *align >= LINE ? LINE : HEAP_GRAIN;
    *size = round_up(*size, unit);
    *align = max_size(*align, unit);
    return HEAP_OK;
}

struct heap *heap_create(size_t size)
{
    struct heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    if (!heap_blocks_reserve(&h->blocks, 4)) {
        free(h);
        return NULL;
    }
    h->size = size & ~(size_t)(LINE - 1);
    if (h->size)
        heap_blocks_insert(&h->blocks, 0, 0, h->size);
    return h;
}

void heap_destroy(struct heap *h)
{
    if (!h)
        return;
    free(h->blocks.node);
    free(h->freed);
    free(h);
}

int heap_alloc(struct heap *h, size_t size, size_t align, size_t *offset)
{
    int status = normalise(h, &size, &align);
    if (status)
        return status;
    if (!heap_blocks_reserve(&h->blocks, 2))
        return HEAP_NO_BOOKS;
    heap_node i = search(h, size, align);
    if (!i)
        return HEAP_NO_ROOM;
    size_t start = round_up(h->blocks.node[i].offset, align);
    carve(h, i, start, size);
    *offset = start;
    return HEAP_OK;
}

/* Finds the live block that starts at offset. Returns HEAP_OK, or the status that says why there is none. */
static int locate(const struct heap *h, size_t offset, heap_node *found)
{
    if (offset >= h->size)
        return HEAP_OUTSIDE;
    heap_node i = heap_blocks_find(&h->blocks, offset);
    if (h->blocks.node[i].live) {
        *found = i;
        return h->blocks.node[i].offset == offset ? HEAP_OK : HEAP_INSIDE;
    }
    bool freed = h->freed && h->freed[(offset / HEAP_GRAIN) % REMEMBERED] == offset + 1;
    return freed ? HEAP_FREED : HEAP_NOT_ALLOCATED;
}

int heap_free(struct heap *h, size_t offset)
{
    heap_node i;
    int status = locate(h, offset, &i);
    if (!status)
        release(h, i);
    return status;
}

int heap_size_of(const struct heap *h, size_t offset, size_t *size)
{
    heap_node i;
    int status = locate(h, offset, &i);
    if (!status)
        *size = h->blocks.node[i].size;
    return status;
}

/* Frees the end of live block i. Uses at most one new node. */
static void shrink(struct heap *h, heap_node i, size_t size)
{
    struct heap_block *n = h->blocks.node;
    size_t rest = n[i].size - size;
    heap_node next = n[i].next;
    if (!rest)
        return;
    n[i].size = size;
    h->used -= rest;
    if (next && !n[next].live) {
        n[next].offset -= rest;
        n[next].size += rest;
        heap_blocks_pull_up(&h->blocks, next);
    } else {
        heap_blocks_insert(&h->blocks, i, n[i].offset + size, rest);
    }
}

/* Extends live block i over the free block behind it. Returns false when that does not suffice. */
static bool extend(struct heap *h, heap_node i, size_t size)
{
    struct heap_block *n = h->blocks.node;
    size_t more = size - n[i].size;
    heap_node next = n[i].next;
    if (n[next].live || n[next].size < more) /* behind the last block: node 0, without bytes */
        return false;
    n[i].size = size;
    n[next].offset += more;
    n[next].size -= more;
    if (n[next].size)
        heap_blocks_pull_up(&h->blocks, next);
    else
        heap_blocks_remove(&h->blocks, next);
    h->used += more;
    h->peak = max_size(h->peak, h->used);
    h->top = max_size(h->top, n[i].offset + size);
    return true;
}

/* Moves the block elsewhere; when there is no room beside the old block, into space that overlaps it. Returns HEAP_OK,
 * or HEAP_NO_ROOM when nothing has changed. */
static int move(struct heap *h, heap_node i, size_t size, size_t align, size_t *new_offset)
{
    size_t old = h->blocks.node[i].offset, old_size = h->blocks.node[i].size;
    if (heap_alloc(h, size, align, new_offset) == HEAP_OK) {
        release(h, heap_blocks_find(&h->blocks, old));
        return HEAP_OK;
    }
    release(h, i);
    if (heap_alloc(h, size, align, new_offset) == HEAP_OK)
        return HEAP_OK;
    carve(h, heap_blocks_find(&h->blocks, old), old, old_size);
    return HEAP_NO_ROOM;
}

int heap_resize(struct heap *h, size_t offset, size_t size, size_t *new_offset)
{
    heap_node i;
    size_t align = 0;
    int status = locate(h, offset, &i);
    if (!status)
        status = normalise(h, &size, &align);
    if (status)
        return status;
    if (!heap_blocks_reserve(&h->blocks, 4)) /* so that nothing below runs out of nodes */
        return HEAP_NO_BOOKS;
    if (offset & (align - 1))
        return move(h, i, size, align, new_offset);
    if (size <= h->blocks.node[i].size)
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
        .largest_free = h->blocks.node[h->blocks.root].fit,
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
    heap_node i = offset < h->size ? heap_blocks_find(&h->blocks, offset) : 0;
    if (!h->blocks.node[i].live)
        return false;
    *start = h->blocks.node[i].offset;
    *size = h->blocks.node[i].size;
    return true;
}

const char *heap_verify(const struct heap *h)
{
    size_t end = 0, used = 0, live = 0;
    heap_node i = h->size ? heap_blocks_find(&h->blocks, 0) : 0;
    for (; i; i = h->blocks.node[i].next) {
        const char *wrong = heap_blocks_verify(&h->blocks, i);
        if (wrong)
            return wrong;
        end = h->blocks.node[i].offset + h->blocks.node[i].size;
        used += h->blocks.node[i].live ? h->blocks.node[i].size : 0;
        live += h->blocks.node[i].live;
    }
    if (end != h->size)
        return "the blocks do not cover the heap";
    return used == h->used && live == h->live ? NULL : "the statistics are wrong";
}
