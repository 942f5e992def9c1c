/* Who carries a window, this library or the MPI, and why. */
#ifndef MPI_CARRIER_H
#define MPI_CARRIER_H

#include "window.h"

/* Collective: whether windows of a communicator can be ours. Returns null, or why not; the same at all ranks. */
const char *lmpi_window_refused(MPI_Comm comm);

/* Calls the error handler of an intercommunicator, which no window can have: MPICH crashes on it. Returns MPI_ERR_COMM, or
 * MPI_SUCCESS for any other communicator. */
int lmpi_window_between(MPI_Comm comm);

/* Prints, under LATERAL_MPI_VERBOSE, who carries a window. */
void lmpi_window_tell(const struct lmpi_window *window, int flavor, const char *why_not);

#endif
