/* The symmetric heap's allocator: against a model under random load, its errors, its resizing, its
 * determinism, and its cost with many live blocks. */
#include "base/heap.h"

#include "unit/check.h"

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
    }
    for (int slot = 0; slot < SLOTS; slot++)
        if (m->slot[slot].size)
            CHECK(heap_free(m->heap, m->slot[slot].offset) == HEAP_OK);
    struct heap_stats stats;
    heap_stats(m->heap, &stats);
    CHECK(stats.used == 0 && stats.live == 0 && stats.largest_free == MODEL_BYTES);
    CHECK(stats.peak > 0 && stats.peak <= stats.top && stats.top <= MODEL_BYTES);
    heap_destroy(m->heap);
    free(m);
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
    CHECK(heap_alloc(h, 1, 0, &a) == HEAP_NO_ROOM && heap_free(h, 0) == HEAP_OUTSIDE);
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
    CHECK(!heap_free(h, 0) && !heap_free(h, a) && !heap_free(h, c));
    CHECK(!heap_alloc(h, 16, 0, &a) && !heap_alloc(h, 16, 0, &b) && a == 0 && b == 16);
    CHECK(heap_resize(h, b, 64, &moved) == HEAP_OK && moved % 64 == 0); /* grows out of its shared line */
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
    heap_destroy(h);
    h = created(size);
    CHECK(heap_alloc(h, size, size, &offset) == HEAP_OK && offset == 0);
    CHECK(heap_alloc(h, 1, 0, &offset) == HEAP_NO_ROOM);
    CHECK(heap_free(h, 0) == HEAP_OK);
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
    CHECK(stats.live == 0 && stats.largest_free == (size_t)1 << 40);
    printf("peak %zu of top %zu\n", stats.peak, stats.top);
    heap_destroy(h);
    free(live);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        test_random_load(seed, 20000);
    test_determinism();
    test_errors();
    test_resize();
    test_large();
    test_density();
    test_many_live();
    return 0;
}
