/* The MPI's own functions behind the names that this library takes over.
 *
 * The library defines MPI_X and PMPI_X of every X in taken.def. Open MPI's Fortran calls the PMPI_ names alone, and
 * MPICH's mixes both, so both lead here. The library finds the MPI's own ones behind its own (dlsym, RTLD_NEXT). All other
 * PMPI_ functions it calls by their names.
 *
 * LMPI_NAME(X) makes PMPI_X the same function as MPI_X; it stands behind the definition. */
#ifndef MPI_CORE_REAL_H
#define MPI_CORE_REAL_H

#include <mpi.h>

struct lmpi_real {
#define LMPI_ROW(name) __typeof__(&PMPI_##name) name;
#include "mpi/core/taken.def"
#undef LMPI_ROW
};

/* Constant from the time when the library is loaded. */
extern struct lmpi_real lmpi_real;

#define LMPI_EXPORT __attribute__((visibility("default")))
#define LMPI_NAME(name) \
    extern __typeof__(PMPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), visibility("default")))

#endif
