/* The life of the symmetric heap, and the block around an address. What programs call is in calls.h.
 *
 * open and close: in init and finalize. around: any thread. */
#ifndef SHMEM_MEM_H
#define SHMEM_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns 0, or -1 when there is no memory for the bookkeeping. */
int lat_mem_open(void);
void lat_mem_close(void);

/* Finds the live heap block around an address. Returns false when there is none. */
bool lat_mem_around(const void *addr, uintptr_t *start, size_t *bytes);

#endif
