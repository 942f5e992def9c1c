/* What the program's hints ask for. */
#ifndef MPI_WINDOW_INFO_H
#define MPI_WINDOW_INFO_H

#include <mpi.h>
#include <stdbool.h>

#define LMPI_NOTIFY_IDS "mpi_win_notify_ids"

/* Returns the kind that hints ask for; where they say nothing, `kind`. */
unsigned lmpi_info_kind(MPI_Info info, unsigned kind);

/* Returns whether hints promise intrinsic accumulates and LATERAL_CHECK asks to hold a program to it. */
bool lmpi_info_promises(MPI_Info info, bool before);

/* info.c: adds those hints of `from` that say a known value. */
void lmpi_info_merge(MPI_Info into, MPI_Info from);

/* Returns how many notifications a new window is to have here. */
int lmpi_info_ids(MPI_Info info);

#endif
