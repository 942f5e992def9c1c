/* Copies of blocks. Any thread. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <string.h>

/* Copies `count` blocks of `block` bytes, in order; the steps are bytes from the start of one to the start of the next. A block of
 * 1, 2, 4, 8 or 16 bytes is one load and one store; blocks that lie side by side in both places are one copy. */
void copy_blocks(void *to, ptrdiff_t to_step, const void *from, ptrdiff_t from_step, size_t block, size_t count);

#endif
