/* Moves pages of the program's own memory, in place, onto memory that the node maps, so that a window over them is as fast
 * as an allocated one; and back. One thread at a time (memory.c holds its lock). */
#ifndef MPI_ADOPT_H
#define MPI_ADOPT_H

#include "touched.h"

#include <stdbool.h>
#include <stddef.h>
#include <uccs.h>

struct lmpi_adopted {
    char *start; /* whole pages */
    size_t bytes;
    uccs_memory_t memory; /* that holds them from `offset` on */
    size_t offset;
    struct lmpi_place place; /* that the pages map */
};

/* Returns false when the range is too small, is not plain private memory, or may be a stack, or while a thread of the
 * process blocks SIGSEGV. */
bool lmpi_adopt(const void *address, size_t bytes, struct lmpi_adopted *adopted);
/* Makes the pages private again, with what they hold now, but for those that the program has unmapped since. The memory
 * object is the caller's to release. Returns false while a thread blocks SIGSEGV: nothing has changed. */
bool lmpi_adopted_return(const struct lmpi_adopted *adopted);
/* The same in the child of a fork, whose stores its parent must not see. */
void lmpi_adopted_part(const struct lmpi_adopted *adopted);

#endif
