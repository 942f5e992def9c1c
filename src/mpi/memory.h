/* Memory of this library that the program got: by MPI_Alloc_mem or with a window. All ranks of the node map it, so a
 * window over a part of it is as fast as an allocated one, and is the same object to atomic operations. Any thread. */
#ifndef MPI_MEMORY_H
#define MPI_MEMORY_H

#include <stddef.h>
#include <uccs.h>

/* Makes memory that the node maps. Returns its address, or null. */
void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory);
/* Returns the object that holds [address, address + bytes) and the offset in it, or null. */
uccs_memory_t lmpi_memory_holding(const void *address, size_t bytes, size_t *offset);
/* Ends the memory that begins at an address. Returns false when there is none. */
int lmpi_memory_end(const void *address);

#endif
