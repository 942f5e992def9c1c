/* What the program's hints ask for. */
#ifndef MPI_WINDOW_INFO_H
#define MPI_WINDOW_INFO_H

#include <mpi.h>
#include <stdbool.h>

#define LMPI_NOTIFY_IDS "mpi_win_notify_ids"

/* Returns the kind of window that hints ask for; without such a hint, `kind`. */
unsigned lmpi_info_kind(MPI_Info info, unsigned kind);

/* Returns whether the hints promise intrinsic accumulates and LATERAL_CHECK is set; without the hint, `before`. */
bool lmpi_info_promises(MPI_Info info, bool before);

/* Copies the hints that the layer knows, with values that it knows. */
void lmpi_info_merge(MPI_Info into, MPI_Info from);

/* Returns the number of notifications that a new window has at this rank. */
int lmpi_info_ids(MPI_Info info);

#endif
