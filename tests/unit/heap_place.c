/* Where the symmetric heap puts a block: at the lowest address that fits, or where it was; and what the statistics say of it. */
#include "base/heap.h"

#include "unit/check.h"

#include <string.h>

#define GRAIN 16

enum { SMALL_BYTES = 2048, SMALL_GRAINS = SMALL_BYTES / GRAIN };

/* The lowest offset at which so much is free, as heap.h tells; SMALL_BYTES when there is none. */
static size_t lowest(const bool *used, size_t size, size_t align)
{
    const size_t unit = size >= 64 || align >= 64 ? 64 : GRAIN, step = align > unit ? align : unit;
    const size_t grains = (size + unit - 1) / unit * unit / GRAIN;
    for (size_t at = 0; at + grains * GRAIN <= SMALL_BYTES; at += step) {
        size_t i = 0;
        while (i < grains && !used[at / GRAIN + i])
            i++;
        if (i == grains)
            return at;
    }
    return SMALL_BYTES;
}

/* A block goes to the lowest address that fits, and every block has its size, up to the exact fit. */
static void test_lowest(void)
{
    static const size_t aligns[] = {0, 0, 16, 32, 64, 128, 256};
    bool used[SMALL_GRAINS] = {0};
    size_t live[SMALL_GRAINS] = {0}; /* offset + 1 */
    struct heap *h = heap_create(SMALL_BYTES);
    uint64_t seed = 5;
    for (int i = 0; i < 30000; i++) {
        const size_t slot = next_random(&seed) % 40, align = aligns[next_random(&seed) % 7];
        const size_t size = 1 + next_random(&seed) % 200;
        size_t offset = SMALL_BYTES, bytes = 0;
        if (live[slot]) {
            offset = live[slot] - 1;
            CHECK(heap_size_of(h, offset, &bytes) == HEAP_OK && heap_free(h, offset) == HEAP_OK);
            memset(used + offset / GRAIN, 0, bytes / GRAIN);
            live[slot] = 0;
            continue;
        }
        const size_t wanted = lowest(used, size, align);
        const int status = heap_alloc(h, size, align, &offset);
        if (offset != wanted)
            fprintf(stderr, "%zu bytes aligned to %zu: at %zu instead of %zu\n", size, align, offset, wanted);
        CHECK(offset == wanted && (status == HEAP_OK) == (wanted < SMALL_BYTES));
        if (status)
            continue;
        CHECK(heap_size_of(h, offset, &bytes) == HEAP_OK && bytes >= size);
        CHECK(size < 64 && align < 64 ? bytes % GRAIN == 0 : bytes % 64 == 0);
        memset(used + offset / GRAIN, 1, bytes / GRAIN);
        live[slot] = offset + 1;
    }
    heap_destroy(h);
}

/* So many holes of 4 kB that lie badly, then one of 4 kB that lies well, then one of 8 kB. Returns whether a block of 4 kB aligned to
 * 4 kB goes into the one that lies well. */
static bool takes_exact(size_t holes)
{
    enum { UNIT = 4096, LINE_BYTES = 64 };
    struct heap *h = heap_create(1 << 20);
    size_t offset, hole[64], used = 0;
    for (size_t i = 0; i < holes; i++) {
        CHECK(!heap_alloc(h, LINE_BYTES, 0, &offset) && !heap_alloc(h, UNIT, 0, &hole[used++]));
        CHECK(hole[i] % UNIT);
    }
    CHECK(!heap_alloc(h, LINE_BYTES, 0, &offset));
    const size_t pad = UNIT - (offset + LINE_BYTES) % UNIT;
    CHECK(!heap_alloc(h, pad, 0, &offset) && !heap_alloc(h, UNIT, 0, &hole[used++]) && hole[holes] % UNIT == 0);
    CHECK(!heap_alloc(h, LINE_BYTES, 0, &offset) && !heap_alloc(h, 2 * UNIT, 0, &hole[used++]));
    CHECK(!heap_alloc(h, LINE_BYTES, 0, &offset));
    for (size_t i = 0; i < used; i++)
        CHECK(!heap_free(h, hole[i]));
    CHECK(!heap_alloc(h, UNIT, UNIT, &offset) && offset % UNIT == 0 && offset >= hole[holes]);
    heap_destroy(h);
    return offset == hole[holes];
}

/* After 32 holes that lie badly a search takes the lowest one that suits any alignment, so that it ends soon. */
static void test_misses(void)
{
    CHECK(takes_exact(1) && takes_exact(30) && takes_exact(31));
    CHECK(!takes_exact(32) && !takes_exact(50));
}

/* Blocks stay in place where they can, and the statistics follow. */
static void test_in_place(void)
{
    struct heap *h = heap_create(8192);
    struct heap_stats stats;
    size_t a, b, c, moved = 1, size;
    CHECK(!heap_alloc(h, 1024, 0, &a) && !heap_alloc(h, 1024, 0, &b) && !heap_alloc(h, 1024, 0, &c));
    CHECK(!heap_resize(h, b, 1024, &moved) && moved == b); /* nothing changes, nothing is free behind */
    CHECK(!heap_resize(h, b, 1000, &moved) && moved == b); /* nor in the same lines */
    CHECK(!heap_free(h, b) && !heap_resize(h, a, 2048, &moved) && moved == a); /* exactly the hole */
    CHECK(!heap_size_of(h, a, &size) && size == 2048);
    CHECK(!heap_resize(h, c, 4096, &moved) && moved == c);
    heap_stats(h, &stats);
    CHECK(stats.top == 6144 && stats.used == 6144 && stats.peak == 6144 && stats.live == 2);
    CHECK(stats.largest_free == 2048);
    CHECK(heap_resize(h, a, 4096, &moved) == HEAP_NO_ROOM && moved == c); /* neither with its own space */
    CHECK(!heap_size_of(h, a, &size) && size == 2048);
    heap_stats(h, &stats);
    CHECK(stats.live == 2 && stats.used == 6144);
    CHECK(!heap_around(h, 8192, &a, &size) && !heap_around(h, 6144, &a, &size));
    CHECK(!heap_resize(h, c, 6144, &moved) && moved == c); /* up to the heap's end */
    CHECK(heap_around(h, 8191, &a, &size) && a == c && size == 6144);
    CHECK(!heap_around(h, 8192, &a, &size));
    CHECK(!heap_resize(h, c, 64, &moved) && !heap_free(h, 0));
    CHECK(!heap_alloc(h, 40, 64, &a) && !heap_size_of(h, a, &size) && size == 64); /* owns its line */
    CHECK(!heap_resize(h, a, 128, &moved) && moved == a);
    heap_destroy(h);
}

int main(void)
{
    test_lowest();
    test_misses();
    test_in_place();
    return 0;
}
