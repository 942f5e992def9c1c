/* The gaps of the symmetric heap, as the address sanitizer or valgrind knows them: bytes that belong to no block must not
 * be used. Does nothing unless the program runs under one of them.
 *
 * The gap behind the highest block is known for LAT_GUARD_AHEAD bytes alone, and nothing beyond the first GiB of the heap:
 * sanitizers touch memory for all that they know. The heap's lock guards these calls. */
#ifndef SHMEM_GUARD_H
#define SHMEM_GUARD_H

#include <stddef.h>

#define LAT_GUARD_AHEAD ((size_t)1 << 20)

void lat_guard_open(char *heap, size_t bytes);
void lat_guard_close(void);

/* A block of `bytes` at this offset belongs to the program from now on, or does not any more. */
void lat_guard_given(size_t offset, size_t bytes);
void lat_guard_taken(size_t offset, size_t bytes);

#endif
