/* Blocks a stride apart that have come from another node (far/serve.c): which bytes of memory they need as a whole, and which ones one by one
 * where the memory between them is not there. The memory is made up; nothing is written. */
#include "base/atomic.h"

#include "unit/check.h"

#include <stdbool.h>
#include <stddef.h>

#define far_place_of test_place_of
#include "uccs/far/serve.c"

enum { BLOCK = 16 };
#define BASE ((char *)(UINT64_C(1) << 44))

static uint64_t length;          /* of the memory */
static uint64_t asked, asked_at; /* bytes, offset */
static unsigned asks;

char *test_place_of(const struct link_header *header, uint64_t offset, size_t bytes)
{
    (void)header;
    asks++;
    asked = bytes;
    asked_at = offset;
    return bytes <= length && offset <= length - bytes ? BASE + offset : 0;
}

/* So many blocks from this offset on need these bytes from `low` on. */
static void span_is(uint64_t offset, uint64_t count, int64_t stride, uint64_t low, uint64_t bytes)
{
    const struct link_header header = {.at.offset = offset};
    const struct spread spread = {BLOCK, count, stride};
    length = low + bytes;
    CHECK(find_all(&header, &spread) == BASE + offset && asked_at == low && asked == bytes);
    length--;
    CHECK(!find_all(&header, &spread));
    length = low + bytes;
    for (uint64_t i = 0; i < count && i < 3; i++)
        CHECK(find_block(&header, &spread, i) == BASE + offset + i * (uint64_t)stride && asked == BLOCK);
}

int main(void)
{
    const uint64_t far = (UINT64_C(1) << 32) + 8;
    span_is(100, 1, 1000, 100, BLOCK);
    span_is(100, 1, -1000, 100, BLOCK);
    span_is(100, 4, 0, 100, BLOCK);
    span_is(100, 3, 64, 100, 128 + BLOCK);
    span_is(500, 3, -64, 372, 128 + BLOCK);
    span_is(100, 2, (int64_t)far, 100, far + BLOCK); /* of more than 4 GB */
    span_is(100 + far, 2, -(int64_t)far, 100, far + BLOCK);
    span_is(0, 5, (int64_t)1 << 40, 0, (UINT64_C(4) << 40) + BLOCK);
    CHECK(asks > 0);
    return 0;
}
