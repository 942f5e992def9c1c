/* Words of this layer in the key space of a launcher that speaks PMIx.
 *
 * One thread, within MPI_Init. */
#ifndef MPI_INIT_PMIX_H
#define MPI_INIT_PMIX_H

#include <stdbool.h>

/* Before the MPI starts: leaves this rank's word, which the MPI's start shows to all. Does nothing where no such launcher is. */
void lmpi_pmix_begin(void);

/* After the MPI has started: returns whether words can be asked for; *told says whether this rank's is among them. */
bool lmpi_pmix_is_there(bool *published);

/* Returns whether a rank has left its word. */
bool lmpi_pmix_knows(int rank);

/* Behind the last question. */
void lmpi_pmix_end(void);

#endif
