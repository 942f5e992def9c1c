/* Copies of blocks that lie apart: every length that has a loop of its own, and others; no block, one, many; steps of either sign; and
 * nothing beside the blocks. */
#include "base/copy.h"

#include "unit/check.h"

#include <stdbool.h>

enum { ROOM = 4096, MIDDLE = ROOM / 2 };

static unsigned char from[ROOM], to[ROOM], wanted[ROOM];

static void copies(size_t block, size_t count, ptrdiff_t to_step, ptrdiff_t from_step)
{
    memset(to, 0xee, sizeof to);
    memset(wanted, 0xee, sizeof wanted);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)count; i++)
        for (ptrdiff_t k = 0; k < (ptrdiff_t)block; k++)
            wanted[MIDDLE + i * to_step + k] = from[MIDDLE + i * from_step + k];
    copy_blocks(to + MIDDLE, to_step, from + MIDDLE, from_step, block, count);
    const bool same = memcmp(to, wanted, sizeof to) == 0;
    if (!same)
        fprintf(stderr, "%zu blocks of %zu bytes, %td and %td apart\n", count, block, to_step, from_step);
    CHECK(same);
}

int main(void)
{
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 7 + i / 251) % 200;
    for (size_t block = 0; block <= 33; block++)
        for (size_t count = 0; count <= 4; count++) {
            const ptrdiff_t next = (ptrdiff_t)block;
            copies(block, count, next, next);
            copies(block, count, next + 3, next + 40);
            copies(block, count, -next - 5, next + 1);
            copies(block, count, next, -next - 7);
            copies(block, count, next, 0); /* the same block again and again */
            if (count <= 1) {              /* a step that nobody takes may be any */
                copies(block, count, PTRDIFF_MAX, PTRDIFF_MIN);
                copies(block, count, PTRDIFF_MIN, PTRDIFF_MAX);
            }
        }
    return 0;
}
