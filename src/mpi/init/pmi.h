/* Words of this layer in the key space of a launcher that speaks PMI-1, over the connection by which the MPI speaks to it.
 *
 * One thread, within MPI_Init. */
#ifndef MPI_INIT_PMI_H
#define MPI_INIT_PMI_H

#include <stdbool.h>

/* Before the MPI starts: puts a thread between it and the launcher, which leaves this rank's word before the MPI's first barrier; the
 * barrier shows the word to all ranks. Returns false, having done nothing, where no such launcher is. */
bool lmpi_pmi_begin(void);

/* After the MPI has started: gives it the connection, and ends the thread. Returns whether the MPI has met all ranks by a barrier there,
 * so that words can be asked for; *told says whether this rank's is among them. */
bool lmpi_pmi_end(bool *published);

/* Between that and the return of MPI_Init, in which the MPI does not use the connection: returns whether a rank has left its word. */
bool lmpi_pmi_knows(int rank);

#endif
