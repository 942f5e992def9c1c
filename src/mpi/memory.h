/* Memory of this process that all ranks of the node map: from MPI_Alloc_mem, of allocated windows, and pages of the
 * program's own that were moved there. A window over a part of it is as fast as an allocated one, and is the same object
 * to atomic operations. Pieces are counted: each goes with its last user. Any thread. */
#ifndef MPI_MEMORY_H
#define MPI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <uccs.h>

/* Makes memory that the node maps, with one user. Returns its address, or null. */
void *lmpi_memory_make(size_t bytes, uccs_memory_t *memory);
/* Returns the object that holds [address, address + bytes), with one user more, and the offset in it. Moves pages of the
 * program's where that is safe. Null: the node cannot map the range. */
uccs_memory_t lmpi_memory_share(const void *address, size_t bytes, size_t *offset);
/* One user less. Returns false when the object is none of these. */
bool lmpi_memory_drop(uccs_memory_t memory);

#endif
