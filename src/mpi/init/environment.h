/* The MPI as the substrate's environment. */
#ifndef MPI_INIT_ENVIRONMENT_H
#define MPI_INIT_ENVIRONMENT_H

#include <stdbool.h>

/* Hands the MPI to the substrate as its environment. Returns a status of uccs.h. */
int lmpi_environment_embed(void);
/* Collective: tells the other ranks whether this one has started. Another may still be in a fence of its start, which then fails, as
 * this one is not going to come. Returns whether all have. */
bool lmpi_environment_agree(bool good);
/* Returns whether a fence has said that a rank cannot start. */
bool lmpi_environment_failed(void);
void lmpi_environment_end(void); /* the MPI must not be called any more */

#endif
