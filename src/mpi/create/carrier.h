/* Who carries a window, this library or the MPI, and why. */
#ifndef MPI_CREATE_CARRIER_H
#define MPI_CREATE_CARRIER_H

#include "mpi/window/window.h"

/* A reason for which no line is printed: the MPI refuses the communicator, so there will be no window. */
#define LMPI_NO_WINDOW ""

/* Collective: whether windows of a communicator can be ours. Returns null, or why not; the same at all ranks. */
const char *lmpi_carrier_refuse(MPI_Comm comm);

/* Calls the communicator's error handler for a size below 0, a unit that is not above 0, and an intercommunicator. Open MPI
 * takes any unit, and MPICH crashes on an intercommunicator. Returns the error class, or MPI_SUCCESS. */
int lmpi_carrier_check(MPI_Aint size, int unit, MPI_Comm comm);

/* Prints, under LATERAL_MPI=verbose, who carries a window. */
void lmpi_carrier_log(const struct lmpi_window *window, int flavor, const char *why_not);

#endif
