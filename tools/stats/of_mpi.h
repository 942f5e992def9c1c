/* For the wrappers of MPI's calls on windows. Any thread. */
#ifndef STATS_OF_MPI_H
#define STATS_OF_MPI_H

#include "stats.h"

#include <mpi.h>

/* Lateral's extensions; mpix_rma.h says what they do. Declared here as a library of this kind defines all of them. */
#include "mpix_rma.h"

int stats_pe_of(MPI_Win win, int rank); /* returns the rank in the world of a window's rank; -1: there is none */
size_t stats_bytes(MPI_Count count, MPI_Datatype type);

#endif
