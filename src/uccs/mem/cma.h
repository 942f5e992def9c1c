/* Copies by the kernel between processes of a node (process_vm_readv, process_vm_writev), for memory that is not
 * mapped. Any thread.
 *
 * Each process tests the copy once for each peer, since the kernel may refuse it (a container, Yama), and a pid of
 * another pid namespace may belong to another process here. For the test each PE publishes the address of a word and
 * its value (uccs_pe_shared). A process that reads this value at this address has found the PE. */
#ifndef UCCS_MEM_CMA_H
#define UCCS_MEM_CMA_H

#include "uccs/mem/region.h"

/* Publishes the word by which peers try the kernel's copy. Called at the first registration of memory that is not
 * mapped. Offers nothing with LATERAL_WIRE=messages. */
void uccs_cma_offer(void);
/* Returns true when the kernel copies between this process and the owner. Tried once for each owner. */
bool uccs_cma_reaches(const struct uccs_region *memory);

/* Copies by the kernel to or from memory that is not mapped here. Return UCCS_OK; UCCS_ERR_BOUNDS when the range is not
 * there; UCCS_ERR_UNREACHABLE when the kernel refuses. */
int uccs_cma_put(const struct uccs_region *memory, size_t offset, const void *source, size_t length);
int uccs_cma_get(const struct uccs_region *memory, size_t offset, void *dest, size_t length);
/* Puts at most UCCS_CMA_PIECES pieces in one call of the kernel. Their `local` is where they are here. */
#define UCCS_CMA_PIECES 64
int uccs_cma_put_pieces(const struct uccs_region *memory, const struct uccs_piece *pieces, size_t n);

#endif
