/* Which addresses of a far PE's memory that is mapped here are taken: those within its parts, to the last byte, and none behind; and
 * which parts are believed when they are added. */
#include "base/buserror.h"
#include "uccs/core/memory.h"

#include "unit/check.h"

#include <string.h>
#include <sys/mman.h>

enum { HEAP = 4096, IMAGE = 512, REGION = 1024 };

static struct uccs_memory_piece mine[UCCS_PIECES];
static int (*owner)(uintptr_t address);
static int advised, no_memory;

static void told_pieces(struct uccs_memory_piece pieces[UCCS_PIECES])
{
    memcpy(pieces, mine, sizeof mine);
}

static void ask_owner(int (*of)(uintptr_t address))
{
    owner = of;
}

static int advise(void *start, size_t bytes, int advice)
{
    CHECK(start && bytes && (advice == MADV_DONTDUMP || advice == MADV_DONTFORK));
    advised += advice;
    return 0;
}

static void *some_memory(size_t bytes)
{
    return no_memory && --no_memory == 0 ? NULL : malloc(bytes);
}

#define uccs_memory_pieces told_pieces
#define buserror_ask ask_owner
#define madvise advise
#define malloc some_memory
#include "uccs/core/reach.c"
#undef malloc

static char own_heap[HEAP + 64], own_image[IMAGE + 64], far_heap[HEAP], far_image[IMAGE], far_region[REGION];

static void parts(void)
{
    CHECK(uccs_reached(own_heap, 1) == far_heap && uccs_reached(own_heap + HEAP - 1, 1) == far_heap + HEAP - 1);
    CHECK(uccs_reached(own_heap + HEAP, 1) == 0 && uccs_reached((void *)((uintptr_t)own_heap - 1), 1) == 0);
    CHECK(uccs_reached(own_image, 1) == far_image && uccs_reached(own_image + IMAGE - 1, 1) == far_image + IMAGE - 1);
    CHECK(uccs_reached(own_image + IMAGE, 1) == 0);
    CHECK(!uccs_reached((void *)((uintptr_t)own_heap + ((uintptr_t)1 << 32)), 1)); /* the lower half is the same */
    CHECK(!uccs_reached((void *)((uintptr_t)own_image + ((uintptr_t)1 << 32)), 1));
}

static void region(uint64_t start)
{
    CHECK(uccs_reached_region(start, REGION, 1) == far_region);
    CHECK(uccs_reached_region(start + REGION, 0, 1) == far_region + REGION);
    CHECK(uccs_reached_region(start + REGION - 8, 8, 1) == far_region + REGION - 8);
    CHECK(!uccs_reached_region(start + REGION - 8, 9, 1) && !uccs_reached_region(start - 1, 1, 1));
    CHECK(!uccs_reached_region(start + REGION + 1, 0, 1) && !uccs_reached_region(start, SIZE_MAX, 1));
}

/* Nothing of a PE that does not exist, that is not mapped, or that has messages under way. */
static void not_now(void)
{
    CHECK(!uccs_reached(own_heap, 0) && !uccs_reached(own_heap, 2) && !uccs_reached(own_heap, -1));
    uccs_reach[1].image = 0;
    CHECK(!uccs_reached(own_image, 1) && uccs_reached(own_heap, 1));
    uccs_reach[1].region = 0;
    CHECK(!uccs_reached_region(0, 0, 1));
    uccs_reach[1].busy = 1;
    uccs_reach[1].wanted = 0;
    CHECK(!uccs_reached(own_heap, 1) && uccs_reach[1].wanted == 1);
    uccs_reach[1].busy = 0;
    CHECK(uccs_reached(own_heap, 1) && uccs_reach[1].wanted == 1);
    CHECK(uccs_reach_try(1) && !uccs_reach_try(1) && uccs_reach_try(0));
}

/* Of those that ask one after the other, the eighth, the sixteenth and so on wait until the PE is idle; it is. */
static void patience(void)
{
    uccs_reach[1].wanted = 0;
    for (int i = 1; i <= 64; i++)
        CHECK((uccs_reach_want(1) == &uccs_reach[1]) == (i == 8 || i == 16 || i == 32 || i == 64));
}

/* --- Parts that the network has mapped */

enum { PEER = 1, HEAPS = 8192, COUNTERS = 256, ROW = NODE_GROUP_LINES * CACHE_LINE };
#define ROWS ((size_t)NODE_GROUP_SLOTS * 2 * ROW)

static char heap_there[HEAPS], image_there[IMAGE], counters_there[COUNTERS], region_there[REGION], *rows_there;
static int left;
static uintptr_t left_sum;

static void leave(void *start, size_t bytes)
{
    left++;
    left_sum += (uintptr_t)start + bytes;
}

static struct uccs_reach_said said = {.row = ROW, .step = 2 * ROW, .region = 0x7000000000u};

static void begin_life(void)
{
    no_memory = advised = left = 0;
    mine[UCCS_PIECE_HEAP].bytes = HEAPS;
    mine[UCCS_PIECE_IMAGE].bytes = IMAGE;
    mine[UCCS_PIECE_COUNTERS].bytes = COUNTERS;
    mine[UCCS_PIECE_ROWS].bytes = 2 * ROWS;
    mine[UCCS_PIECE_REGION].bytes = 2 * REGION;
    CHECK(uccs_reach_open() == 0 && owner && !uccs_reach_of(PEER) && !uccs_reach_wanted(PEER));
}

/* Adds what the PE has, but for `without`; another part has so many bytes. */
static const struct uccs_reach *add(int without, int other, size_t bytes)
{
    struct uccs_reach_map maps[UCCS_PIECES] = {
        [UCCS_PIECE_HEAP] = {heap_there, HEAPS},
        [UCCS_PIECE_IMAGE] = {image_there, IMAGE},
        [UCCS_PIECE_COUNTERS] = {counters_there, COUNTERS},
        [UCCS_PIECE_ROWS] = {rows_there, ROWS},
        [UCCS_PIECE_REGION] = {region_there, REGION},
    };
    if (other >= 0)
        maps[other].bytes = bytes;
    if (without >= 0)
        maps[without].start = NULL;
    uccs_reach_add(PEER, maps, &said);
    return uccs_reach_of(PEER);
}

static void end_life(int parts)
{
    uccs_reach_close(leave);
    CHECK(left == parts && !uccs_reach && !owner && !all);
}

static void all_parts(void)
{
    begin_life();
    const struct uccs_reach *at = add(-1, -1, 0);
    CHECK(at && at->heap == (uintptr_t)heap_there && at->image == (uintptr_t)image_there);
    CHECK(at->counters == counters_there && at->region == region_there && at->region_bytes == REGION);
    CHECK(at->region_start == said.region && at->rows == rows_there + ROW && at->step == 2 * ROW);
    CHECK(advised == UCCS_PIECES * (MADV_DONTDUMP + MADV_DONTFORK));
    CHECK((char *)uccs_reached_row(PEER, 0) == rows_there + ROW && !uccs_reached_row(0, 0));
    CHECK((char *)uccs_reached_row(PEER, ROW - 8) == rows_there + 2 * ROW - 8);
    CHECK((char *)uccs_reached_row(PEER, ROW) == rows_there + 3 * ROW);
    CHECK((char *)uccs_reached_row(PEER, 2 * ROW + 16) == rows_there + 5 * ROW + 16);
    CHECK(owner((uintptr_t)heap_there) == PEER && owner((uintptr_t)heap_there + HEAPS - 1) == PEER);
    CHECK(owner((uintptr_t)counters_there + COUNTERS - 1) == PEER && owner((uintptr_t)&at) == -1 && owner(0) == -1);
    CHECK(uccs_reached_region(said.region + 4, 8, PEER) == region_there + 4);
    uccs_reach[PEER].heap = 0; /* without it nothing is reached */
    CHECK(!uccs_reached_row(PEER, 0));
    end_life(UCCS_PIECES);
    CHECK(left_sum == (uintptr_t)heap_there + HEAPS + (uintptr_t)image_there + IMAGE + (uintptr_t)counters_there +
                          COUNTERS + (uintptr_t)rows_there + ROWS + (uintptr_t)region_there + REGION);
}

/* Who owns an address, to the byte. */
static void owners(void)
{
    char *block = heap_there + 100;
    begin_life();
    CHECK(keep(1, &(struct uccs_reach_map){block, 50}) && owner((uintptr_t)block) == 1);
    CHECK(owner((uintptr_t)block + 49) == 1 && owner((uintptr_t)block + 50) == -1 && owner((uintptr_t)block - 1) == -1);
    CHECK(keep(0, &(struct uccs_reach_map){block + 50, 1}) && owner((uintptr_t)block + 50) == 0);
    CHECK(owner((uintptr_t)block + 49) == 1 && owner((uintptr_t)block + 51) == -1);
    no_memory = 1;
    CHECK(!keep(0, &(struct uccs_reach_map){block + 60, 1}) && owner((uintptr_t)block + 60) == -1);
    end_life(2);
}

/* Heap, counters and globals must be as large as mine; without heap or counters nothing is reached. */
static void some_parts(void)
{
    static const struct {
        int without, other;
        size_t bytes;
        bool reached, image, rows, region;
    } cases[] = {{UCCS_PIECE_HEAP, -1, 0, false, false, false, false},
                 {UCCS_PIECE_COUNTERS, -1, 0, false, false, false, false},
                 {-1, UCCS_PIECE_HEAP, HEAPS - 1, false, false, false, false},
                 {-1, UCCS_PIECE_COUNTERS, COUNTERS - 1, false, false, false, false},
                 {-1, UCCS_PIECE_HEAP, HEAPS + 1, true, true, true, true},
                 {UCCS_PIECE_IMAGE, -1, 0, true, false, true, true},
                 {-1, UCCS_PIECE_IMAGE, IMAGE - 1, true, false, true, true},
                 {UCCS_PIECE_ROWS, -1, 0, true, true, false, true},
                 {-1, UCCS_PIECE_ROWS, ROWS - 1, true, true, false, true},
                 {UCCS_PIECE_REGION, -1, 0, true, true, true, false},
                 {-1, UCCS_PIECE_REGION, 1, true, true, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_life();
        const struct uccs_reach *at = add(cases[i].without, cases[i].other, cases[i].bytes);
        CHECK((at != 0) == cases[i].reached);
        at = &uccs_reach[PEER];
        CHECK(!at->image == !cases[i].image && !at->rows == !cases[i].rows && !at->region == !cases[i].region);
        CHECK((uccs_reached_row(PEER, 0) != 0) == cases[i].rows);
        end_life(UCCS_PIECES - (cases[i].without >= 0));
    }
    begin_life();
    no_memory = 1; /* for the first part, which is the heap */
    CHECK(!add(-1, -1, 0));
    end_life(UCCS_PIECES - 1);
}

/* What the PE says of its rows must lie in what is mapped, and its region must not wrap. */
static void said_by_peer(void)
{
    const struct uccs_reach_map area = {.bytes = ROWS};
    const uint64_t last = ROWS - ROW, steps = NODE_GROUP_SLOTS - 1;
    CHECK(is_row(&area, ROW, 2 * ROW) && is_row(&area, 0, 0) && is_row(&area, last, 0) && !is_row(&area, last + 1, 0));
    CHECK(is_row(&area, 0, last / steps) && !is_row(&area, 0, last / steps + 1) && !is_row(&area, ROW + 1, 2 * ROW));
    CHECK(!is_row(&area, UINT64_MAX, 0) && !is_row(&area, 0, UINT64_MAX) && !is_row(&area, UINT64_MAX - ROW + 1, 0));
    CHECK(!is_row(&area, 0, UINT64_MAX / steps) && !is_row(&area, ROWS + 1, 0));
    struct uccs_reach_map map = {region_there, REGION};
    struct uccs_reach at = {0};
    add_region(&at, &map, UINT64_MAX - REGION + 1);
    CHECK(!at.region);
    add_region(&at, &map, UINT64_MAX - REGION);
    CHECK(at.region == region_there && at.region_start == UINT64_MAX - REGION && at.region_bytes == REGION);
}

/* A PE is busy while lanes have messages to it; who finds it so says that it is wanted. */
static void busy(void)
{
    begin_life();
    CHECK(add(-1, -1, 0) && !uccs_reach_wanted(PEER) && !uccs_reach_wanted(0));
    uccs_reach_begin(PEER);
    uccs_reach_begin(PEER);
    CHECK(!uccs_reach_of(PEER) && uccs_reach_wanted(PEER) && !uccs_reach_wanted(0));
    uccs_reach_end(PEER);
    CHECK(!uccs_reach_of(PEER) && uccs_reach[PEER].wanted == 2);
    uccs_reach_end(PEER);
    CHECK(uccs_reach_of(PEER) && !uccs_reach_wanted(PEER));
    uccs_reach_begin(PEER);
    for (int i = 0; i < 16; i++) /* the eighth and the sixteenth wait for a moment, in vain */
        CHECK(!uccs_reach_of(PEER));
    CHECK(uccs_reach[PEER].wanted == 16);
    end_life(UCCS_PIECES);
    uccs_reach_begin(PEER); /* nothing is mapped any more */
    uccs_reach_end(PEER);
    CHECK(!uccs_reach_wanted(PEER) && !uccs_reached_row(PEER, 0));
    begin_life();
    CHECK(uccs_reach[PEER].busy == 0 && uccs_reach[PEER].wanted == 0 && uccs_reach_try(PEER)); /* a new life */
    end_life(0);
}

int main(void)
{
    const uint64_t start = 0x7000000000u;
    uccs_core.npes = 2;
    uccs_core.heap_start = (uintptr_t)own_heap;
    uccs_core.heap_bytes = HEAP;
    uccs_core.image_start = (uintptr_t)own_image;
    uccs_core.image_bytes = IMAGE;
    CHECK(!uccs_reached(own_heap, 1));
    CHECK(uccs_reach_open() == 0 && !uccs_reached(own_heap, 1));
    uccs_reach[1] = (struct uccs_reach){.heap = (uintptr_t)far_heap,
                                        .image = (uintptr_t)far_image,
                                        .region = far_region,
                                        .region_start = start,
                                        .region_bytes = REGION};
    parts();
    region(start);
    not_now();
    patience();
    uccs_reach_close(leave);
    CHECK(!uccs_reach);
    rows_there = mmap(0, 2 * ROWS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(rows_there != MAP_FAILED);
    all_parts();
    owners();
    some_parts();
    said_by_peer();
    busy();
    return 0;
}
