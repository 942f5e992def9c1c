/* What a datatype was made from, in one form for constructors of small and of large counts. Any thread. */
#ifndef MPI_DATATYPE_CONTENTS_H
#define MPI_DATATYPE_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>

struct lmpi_contents {
    int combiner;
    int n_types;
    MPI_Aint *numbers;   /* the integers of MPI_Type_get_contents */
    MPI_Aint *addresses; /* its addresses */
    MPI_Datatype *types;
};

/* Returns the combiner of a datatype, or MPI_UNDEFINED when it is none. */
int lmpi_combiner(MPI_Datatype type);
/* The datatype has no constructor. */
bool lmpi_combiner_is_plain(int combiner);

/* Fills *contents for a datatype that has a constructor. Returns false without memory, or when it is none; lmpi_contents_free
 * is due in any case. */
bool lmpi_contents_get(MPI_Datatype type, struct lmpi_contents *contents);
void lmpi_contents_free(struct lmpi_contents *contents);

#endif
