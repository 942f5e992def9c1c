/* Which bytes of memory hold something: a window over a gigabyte that the program has hardly used moves in microseconds and
 * takes no memory. One thread at a time. */
#ifndef MPI_TOUCHED_H
#define MPI_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a file, as the kernel tells them apart. */
struct lmpi_place {
    unsigned long device, inode, at;
};

struct lmpi_touched {
    int file;        /* to ask, or -1: all counts as touched */
    bool pages;      /* it tells pages of private memory; else it is the memory's own file */
    size_t from, to; /* the last run that was found: long ones are not counted again for each step */
};

/* Opens the answers for private memory without a file. */
struct lmpi_touched lmpi_touched_private(void);
/* Opens those for memory of a file that this process holds open. */
struct lmpi_touched lmpi_touched_file(const struct lmpi_place *place);
void lmpi_touched_close(const struct lmpi_touched *touched);

/* Finds the first run from *from on, before `end`, that may hold anything but zeroes, and stores its ends. Both count in
 * bytes of the memory at `start`, which lies at `at` of its file. Returns false when there is none. */
bool lmpi_touched_next(struct lmpi_touched *touched, const char *start, size_t at, size_t end, size_t *from,
                       size_t *to);

#endif
