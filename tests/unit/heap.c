/* The symmetric heap's allocator: against a model under random load, its errors, its resizing, its
 * determinism, and its cost with many live blocks. */
#include "base/heap.h"
#include "base/heap_blocks.h"

#include "unit/check.h"
#include "unit/heap_spares.h"

#include <string.h>
#include <time.h>

static struct heap *created(size_t bytes)
{
    struct heap *heap;
    CHECK((heap = heap_create(bytes)) != NULL);
    return heap;
}

#define GRAIN 16

/* The model: one byte of `owner` per grain; 0 is free. */
enum { SLOTS = 500, MODEL_BYTES = 1 << 20 };

struct model {
    struct heap *heap;
    uint16_t owner[MODEL_BYTES / GRAIN];
    struct {
        size_t offset, size, asked;
    } slot[SLOTS];
};

static void model_take(struct model *m, int slot, size_t offset, size_t asked)
{
    size_t size = 0;
    CHECK(heap_size_of(m->heap, offset, &size) == HEAP_OK);
    CHECK(size >= asked && size < asked + 64);
    CHECK(offset + size <= MODEL_BYTES);
    CHECK(offset % (asked >= 64 ? 64 : GRAIN) == 0);
    for (size_t g = offset / GRAIN; g < (offset + size) / GRAIN; g++) {
        CHECK(m->owner[g] == 0);
        m->owner[g] = slot + 1;
    }
    m->slot[slot].offset = offset;
    m->slot[slot].size = size;
    m->slot[slot].asked = asked;
}

static void model_give(struct model *m, int slot)
{
    for (size_t g = 0; g < m->slot[slot].size / GRAIN; g++) {
        CHECK(m->owner[m->slot[slot].offset / GRAIN + g] == slot + 1);
        m->owner[m->slot[slot].offset / GRAIN + g] = 0;
    }
    m->slot[slot].size = 0;
}

static bool model_has_room(const struct model *m, size_t size)
{
    size_t run = 0;
    for (size_t g = 0; g < MODEL_BYTES / GRAIN; g++) {
        run = m->owner[g] ? 0 : run + GRAIN;
        if (run >= size + 48 + 64) /* whatever its alignment */
            return true;
    }
    return false;
}

static size_t random_size(uint64_t *seed)
{
    size_t limit = (size_t)1 << (1 + next_random(seed) % 14);
    return 1 + next_random(seed) % limit;
}

static void step_alloc(struct model *m, int slot, uint64_t *seed)
{
    static const size_t aligns[] = {0, 0, 0, 0, 1, 8, 16, 32, 64, 128, 4096, 65536};
    size_t size = random_size(seed), align = aligns[next_random(seed) % 12], offset = 1;
    int status = heap_alloc(m->heap, size, align, &offset);
    if (status == HEAP_OK) {
        CHECK(!align || offset % align == 0);
        model_take(m, slot, offset, size);
    } else {
        CHECK(status == HEAP_NO_ROOM && offset == 1);
        CHECK(align > 64 || !model_has_room(m, size));
    }
}

static void step_resize(struct model *m, int slot, uint64_t *seed)
{
    size_t size = random_size(seed), old = m->slot[slot].offset, offset = 1;
    int status = heap_resize(m->heap, old, size, &offset);
    if (status == HEAP_OK) {
        model_give(m, slot);
        model_take(m, slot, offset, size);
    } else {
        size_t kept = 0;
        CHECK(status == HEAP_NO_ROOM && offset == 1);
        CHECK(heap_size_of(m->heap, old, &kept) == HEAP_OK && kept == m->slot[slot].size);
    }
}

static void step_errors(struct model *m, int slot, uint64_t *seed)
{
    size_t inside = m->slot[slot].offset + 1 + next_random(seed) % (m->slot[slot].size - 1), start, size;
    CHECK(heap_free(m->heap, inside) == HEAP_INSIDE);
    CHECK(heap_resize(m->heap, inside, 8, &start) == HEAP_INSIDE);
    CHECK(heap_around(m->heap, inside, &start, &size));
    CHECK(start == m->slot[slot].offset && size == m->slot[slot].size);
    CHECK(heap_free(m->heap, MODEL_BYTES + next_random(seed) % 1000) == HEAP_OUTSIDE);
}

static void test_random_load(uint64_t seed, int steps)
{
    struct model *m = calloc(1, sizeof *m);
    m->heap = created(MODEL_BYTES);
    for (int i = 0; i < steps; i++) {
        int slot = next_random(&seed) % SLOTS;
        if (!m->slot[slot].size) {
            step_alloc(m, slot, &seed);
        } else if (next_random(&seed) % 4 == 0) {
            step_resize(m, slot, &seed);
        } else {
            step_errors(m, slot, &seed);
            model_give(m, slot);
            CHECK(heap_free(m->heap, m->slot[slot].offset) == HEAP_OK);
            CHECK(heap_free(m->heap, m->slot[slot].offset) == HEAP_FREED);
        }
        if (i % 64 == 0)
            CHECK(heap_verify(m->heap) == NULL);
    }
    for (int slot = 0; slot < SLOTS; slot++)
        if (m->slot[slot].size)
            CHECK(heap_free(m->heap, m->slot[slot].offset) == HEAP_OK);
    struct heap_stats stats;
    heap_stats(m->heap, &stats);
    CHECK(stats.used == 0 && stats.live == 0 && stats.largest_free == MODEL_BYTES);
    CHECK(stats.peak > 0 && stats.peak <= stats.top && stats.top <= MODEL_BYTES);
    CHECK(heap_verify(m->heap) == NULL);
    heap_destroy(m->heap);
    free(m);
}

/* Two blocks: node `up` is the parent of the other, which is its left or right child and lies before or behind it. */
static const char *verify_pair(heap_node up, bool right, bool behind)
{
    const heap_node child = 3 - up;
    struct heap_block node[3] = {{0}};
    node[up] = (struct heap_block){.size = GRAIN, .live = 1};
    node[child] = (struct heap_block){.size = GRAIN, .live = 1, .up = up};
    *(right ? &node[up].right : &node[up].left) = child;
    const heap_node last = behind ? child : up;
    node[last].offset = GRAIN;
    node[last].prev = 3 - last;
    node[3 - last].next = last;
    return heap_blocks_verify(&(struct heap_blocks){.node = node, .root = up, .nodes = 3}, up);
}

/* A left child lies before its parent, a right one behind it, and the one of higher priority is the parent. */
static void test_verify(void)
{
    for (int right = 0; right < 2; right++) {
        int good = 0;
        for (heap_node up = 1; up <= 2; up++) {
            const char *wrong = verify_pair(up, right, !right);
            CHECK(wrong && strcmp(wrong, "the tree is out of order") == 0);
            good += !verify_pair(up, right, right);
        }
        CHECK(good == 1);
    }
}

/* Three live blocks side by side, as inserted; `broken` changes one thing, and the text for node i says what. */
static const char *verify_broken(void (*broken)(struct heap_block *n, heap_node parent, heap_node child),
                                 heap_node *seen)
{
    struct heap_blocks t = {0};
    CHECK(heap_blocks_reserve(&t, 3));
    heap_node last = 0;
    for (size_t i = 0; i < 3; i++) {
        last = heap_blocks_insert(&t, last, i * GRAIN, GRAIN);
        t.node[last].live = 1;
        heap_blocks_pull_up(&t, last);
    }
    for (heap_node i = 1; i <= 3; i++)
        CHECK(!heap_blocks_verify(&t, i));
    heap_node child = t.root == 1 ? 2 : 1;
    while (t.node[child].up != t.root)
        child = t.node[child].up;
    broken(t.node, t.root, child);
    const char *wrong = 0;
    for (*seen = 1; *seen <= 3 && !wrong; ++*seen)
        wrong = heap_blocks_verify(&t, *seen);
    free(t.node);
    return wrong;
}

static void same_offset(struct heap_block *n, heap_node parent, heap_node child)
{
    n[child].offset = n[parent].offset;
}

static void no_bytes(struct heap_block *n, heap_node parent, heap_node child)
{
    (void)child;
    n[parent].size = 0;
}

static void odd_size(struct heap_block *n, heap_node parent, heap_node child)
{
    (void)parent;
    n[child].size += 8;
}

static void odd_offset(struct heap_block *n, heap_node parent, heap_node child)
{
    (void)parent, (void)child;
    n[1].offset += 8; /* the lowest block */
}

static void wrong_prev(struct heap_block *n, heap_node parent, heap_node child)
{
    (void)parent, (void)child;
    n[2].prev = 3;
}

static void wrong_fit(struct heap_block *n, heap_node parent, heap_node child)
{
    (void)child;
    n[parent].fit = GRAIN;
}

static void both_free(struct heap_block *n, heap_node parent, heap_node child)
{
    (void)parent, (void)child;
    n[1].live = n[2].live = 0;
    for (heap_node i = 1; i <= 3; i++)
        n[i].fit = 0;
    for (int round = 0; round < 3; round++) /* `fit` up to the root, from wherever the two lie */
        for (heap_node i = 1; i <= 3; i++) {
            size_t fit = n[i].live ? 0 : n[i].size, left = n[n[i].left].fit, right = n[n[i].right].fit;
            fit = left > fit ? left : fit;
            n[i].fit = right > fit ? right : fit;
        }
}

static void test_verify_broken(void)
{
    static const struct {
        void (*broken)(struct heap_block *, heap_node, heap_node);
        const char *text;
    } cases[] = {
        {same_offset, "the tree is out of order"},
        {no_bytes, "a block is empty or not a multiple of the grain"},
        {odd_size, "a block is empty or not a multiple of the grain"},
        {odd_offset, "a block is empty or not a multiple of the grain"},
        {wrong_prev, "neighbours do not touch"},
        {wrong_fit, "a subtree's longest free block is wrong"},
        {both_free, "two neighbours are free"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heap_node seen;
        const char *wrong = verify_broken(cases[i].broken, &seen);
        if (!wrong || strcmp(wrong, cases[i].text) != 0)
            fprintf(stderr, "\"%s\": found \"%s\"\n", cases[i].text, wrong ? wrong : "nothing");
        CHECK(wrong && strcmp(wrong, cases[i].text) == 0);
    }
}

static void test_determinism(void)
{
    struct heap *a = created(1 << 20), *b = created(1 << 20);
    size_t live[256] = {0};
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        int slot = next_random(&seed) % 256;
        size_t size = random_size(&seed), from_a = 0, from_b = 0;
        if (live[slot]) {
            CHECK(heap_free(a, live[slot] - 1) == heap_free(b, live[slot] - 1));
            live[slot] = 0;
            continue;
        }
        int status = heap_alloc(a, size, 0, &from_a);
        CHECK(status == heap_alloc(b, size, 0, &from_b) && from_a == from_b);
        live[slot] = status ? 0 : from_a + 1;
    }
    heap_destroy(a);
    heap_destroy(b);
}

static void test_errors(void)
{
    struct heap *h = created(4096);
    size_t a = 1, b = 1, size = 1;
    CHECK(heap_free(h, 0) == HEAP_NOT_ALLOCATED);
    CHECK(heap_alloc(h, 8, 24, &a) == HEAP_BAD_ALIGNMENT);
    CHECK(heap_alloc(h, 4097, 0, &a) == HEAP_NO_ROOM);
    CHECK(heap_alloc(h, SIZE_MAX, 0, &a) == HEAP_NO_ROOM);
    CHECK(heap_alloc(h, 8, (size_t)1 << 63, &a) == HEAP_NO_ROOM && a == 1);
    CHECK(heap_alloc(h, 100, 0, &a) == HEAP_OK && a == 0);
    CHECK(heap_alloc(h, 1, 0, &b) == HEAP_OK && b == 128);
    CHECK(heap_free(h, 128 + 16) == HEAP_NOT_ALLOCATED);
    CHECK(heap_free(h, 50) == HEAP_INSIDE && heap_size_of(h, 50, &size) == HEAP_INSIDE && size == 1);
    CHECK(heap_free(h, 4096) == HEAP_OUTSIDE && heap_free(h, SIZE_MAX) == HEAP_OUTSIDE);
    CHECK(heap_free(h, a) == HEAP_OK && heap_free(h, a) == HEAP_FREED);
    CHECK(heap_resize(h, a, 10, &size) == HEAP_FREED);
    CHECK(heap_free(h, b) == HEAP_OK && heap_free(h, b) == HEAP_FREED && heap_free(h, a) == HEAP_FREED);
    for (int status = HEAP_OK; status <= HEAP_FREED; status++)
        CHECK(heap_reason(status)[0]);
    heap_destroy(h);
    heap_destroy(NULL);
    h = created(10); /* less than a line: a heap without room */
    CHECK(heap_alloc(h, 1, 0, &a) == HEAP_NO_ROOM && heap_free(h, 0) == HEAP_OUTSIDE && !heap_verify(h));
    heap_destroy(h);
}

static void test_resize(void)
{
    struct heap *h = created(4096);
    size_t a, b, c, moved, size;
    CHECK(!heap_alloc(h, 1024, 0, &a) && !heap_alloc(h, 1024, 0, &b) && !heap_alloc(h, 1024, 0, &c));
    CHECK(heap_resize(h, c, 2048, &moved) == HEAP_OK && moved == c); /* over the free end */
    CHECK(heap_resize(h, c, 100, &moved) == HEAP_OK && moved == c);  /* gives the rest back */
    CHECK(heap_size_of(h, c, &size) == HEAP_OK && size == 128);
    CHECK(heap_resize(h, a, 1500, &moved) == HEAP_OK && moved == c + 128); /* elsewhere */
    CHECK(heap_free(h, a) == HEAP_FREED);
    a = moved;
    CHECK(heap_resize(h, b, 1 << 20, &moved) == HEAP_NO_ROOM && moved == a);
    CHECK(heap_size_of(h, b, &size) == HEAP_OK && size == 1024);
    CHECK(heap_resize(h, b, 2000, &moved) == HEAP_OK && moved == 0); /* over itself and the hole before */
    CHECK(heap_verify(h) == NULL);
    CHECK(!heap_free(h, 0) && !heap_free(h, a) && !heap_free(h, c));
    CHECK(!heap_alloc(h, 16, 0, &a) && !heap_alloc(h, 16, 0, &b) && a == 0 && b == 16);
    CHECK(heap_resize(h, b, 64, &moved) == HEAP_OK && moved % 64 == 0); /* grows out of its shared line */
    CHECK(heap_verify(h) == NULL);
    heap_destroy(h);
}

/* 1 TiB of heap and huge alignments cost nothing but blocks. */
static void test_large(void)
{
    size_t size = (size_t)1 << 40, offset;
    struct heap *h = created(size);
    struct heap_stats stats;
    for (int shift = 0; shift < 39; shift++) {
        CHECK(heap_alloc(h, 1, (size_t)1 << shift, &offset) == HEAP_OK);
        CHECK(offset % ((size_t)1 << shift) == 0);
    }
    CHECK(heap_alloc(h, size / 4, 0, &offset) == HEAP_OK);
    heap_stats(h, &stats);
    CHECK(stats.size == size && stats.live == 40);
    CHECK(heap_verify(h) == NULL);
    heap_destroy(h);
    h = created(size);
    CHECK(heap_alloc(h, size, size, &offset) == HEAP_OK && offset == 0);
    CHECK(heap_alloc(h, 1, 0, &offset) == HEAP_NO_ROOM);
    CHECK(heap_free(h, 0) == HEAP_OK && heap_verify(h) == NULL);
    heap_destroy(h);
}

/* First pages dense: many small blocks lie side by side, and freed holes are filled first. */
static void test_density(void)
{
    struct heap *h = created((size_t)1 << 30);
    size_t offset;
    for (size_t i = 0; i < 1000; i++)
        CHECK(!heap_alloc(h, 64, 0, &offset) && offset == 64 * i);
    for (size_t i = 100; i < 900; i += 2)
        CHECK(!heap_free(h, 64 * i));
    for (size_t i = 100; i < 900; i += 2)
        CHECK(!heap_alloc(h, 40, 64, &offset) && offset == 64 * i);
    heap_destroy(h);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* A million calls on 100,000 live blocks with every second one free in between. A linear search would
 * take minutes; the limit is loose because the machine may be busy. */
static void test_many_live(void)
{
    enum { LIVE = 100000 };
    size_t *live = malloc(LIVE * sizeof *live);
    struct heap *h = created((size_t)1 << 40);
    uint64_t seed = 3;
    double start = seconds();
    for (int i = 0; i < LIVE; i++)
        CHECK(!heap_alloc(h, random_size(&seed), 0, &live[i]));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < LIVE; i += 2)
            CHECK(!heap_free(h, live[i]));
        for (int i = 0; i < LIVE; i += 2)
            CHECK(!heap_alloc(h, random_size(&seed), next_random(&seed) % 8 ? 0 : 4096, &live[i]));
    }
    for (int i = 0; i < LIVE; i++)
        CHECK(!heap_free(h, live[(i * 7919L) % LIVE]));
    double took = seconds() - start;
    printf("600,000 calls on 100,000 blocks: %.2f s\n", took);
    CHECK(took < 20);
    struct heap_stats stats;
    heap_stats(h, &stats);
    CHECK(stats.live == 0 && stats.largest_free == (size_t)1 << 40 && !heap_verify(h));
    printf("peak %zu of top %zu\n", stats.peak, stats.top);
    heap_destroy(h);
    free(live);
}

int main(void)
{
    test_spares();
    for (uint64_t seed = 1; seed <= 4; seed++)
        test_random_load(seed, 20000);
    test_verify();
    test_verify_broken();
    test_determinism();
    test_errors();
    test_resize();
    test_large();
    test_density();
    test_many_live();
    return 0;
}
