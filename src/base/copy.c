/* Copies of blocks that lie a constant distance apart. One loop for each length, so that the copy of a block is one move. No loop
 * steps behind the last block: one block may come with any step, and an address beyond memory must not even be computed. */
#include "base/copy.h"

void copy_blocks(void *to, ptrdiff_t to_step, const void *from, ptrdiff_t from_step, size_t block, size_t count)
{
    char *dest = to;
    const char *source = from;
#define COPY(bytes)                               \
    for (memcpy(dest, source, bytes); --count;) { \
        dest += to_step;                          \
        source += from_step;                      \
        memcpy(dest, source, bytes);              \
    }
#define EACH(bytes) \
    case bytes: COPY(bytes) break;
    if (!count)
        return;
    if (to_step == (ptrdiff_t)block && from_step == to_step) {
        memcpy(to, from, block * count);
        return;
    }
    /* clang-format off */
    switch (block) {
        EACH(1) EACH(2) EACH(4) EACH(8) EACH(16)
    default: COPY(block)
    }
    /* clang-format on */
#undef EACH
#undef COPY
}
