/* Memory that this layer allocates: for MPI_Alloc_mem, MPI_Win_allocate and MPI_Win_allocate_shared. The node maps it, so a
 * window over it is as fast as an allocated one. A block counts its users and goes with the last one. Any thread. */
#ifndef MPI_MEMORY_BLOCK_H
#define MPI_MEMORY_BLOCK_H

#include <mpi.h>
#include <stddef.h>
#include <uccs.h>

struct lmpi_block {
    char *address;
    size_t bytes;
    uccs_memory_t memory;
    size_t offset; /* of the address in the memory object */
    size_t alignment;
    int users; /* under the lock of memory.c */
};

/* Returns the hint mpi_minimum_memory_alignment, or 1: it is absent, or no power of two. */
size_t lmpi_block_alignment(MPI_Info info);

/* Makes a block with one user, at a multiple of a power of two. Returns null without memory. */
struct lmpi_block *lmpi_block_new(size_t bytes, size_t alignment);
/* Adds a user to the block that holds a byte. Returns null when none does. */
struct lmpi_block *lmpi_block_pin(const void *address);
/* Takes a user away. Null: does nothing. */
void lmpi_block_unpin(struct lmpi_block *block);

#endif
