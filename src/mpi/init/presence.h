/* Finds the ranks that run without this library: they join no collective call of it.
 *
 * A rank leaves a word in the launcher's key space while the MPI starts, and the MPI's own start shows it to the others: over PMIx and
 * over PMI-1. Under other launchers all ranks count as present.
 *
 * One thread, within MPI_Init. */
#ifndef MPI_INIT_PRESENCE_H
#define MPI_INIT_PRESENCE_H

#include <stdbool.h>

/* Before the MPI starts. Once per process. */
void lmpi_presence_publish(void);

/* After the MPI has started, once: all ranks that run with this library call it. Returns -1 when all ranks do, else one that does not;
 * then all callers get such a rank, and *first is true at the lowest of them. */
int lmpi_presence_find_absent(bool *first);

#endif
