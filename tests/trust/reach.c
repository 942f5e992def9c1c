/* Which addresses of a far PE's memory that is mapped here are taken: those within its parts, to the last byte, and none behind. */
#include "uccs/core/reach.h"

#include "unit/check.h"

#include <string.h>

enum { HEAP = 4096, IMAGE = 512, REGION = 1024 };

static char own_heap[HEAP + 64], own_image[IMAGE + 64], far_heap[HEAP], far_image[IMAGE], far_region[REGION];

static void parts(void)
{
    CHECK(uccs_reached(own_heap, 1) == far_heap && uccs_reached(own_heap + HEAP - 1, 1) == far_heap + HEAP - 1);
    CHECK(uccs_reached(own_heap + HEAP, 1) == 0 && uccs_reached((void *)((uintptr_t)own_heap - 1), 1) == 0);
    CHECK(uccs_reached(own_image, 1) == far_image && uccs_reached(own_image + IMAGE - 1, 1) == far_image + IMAGE - 1);
    CHECK(uccs_reached(own_image + IMAGE, 1) == 0);
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

static void leave(void *start, size_t bytes)
{
    (void)start, (void)bytes;
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
    return 0;
}
