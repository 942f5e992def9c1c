/* A walk over the data of elements of a datatype, in order, run by run. Any thread; a walk belongs to one thread. */
#ifndef MPI_WALK_H
#define MPI_WALK_H

#include "flatten.h"

struct lmpi_walk {
    const struct lmpi_type *type;
    size_t left;   /* elements, with the present one */
    size_t run;    /* in the present element */
    MPI_Aint at;   /* of the present element */
    size_t inside; /* bytes of the present run that are done */
};

void lmpi_walk_begin(struct lmpi_walk *walk, const struct lmpi_type *type, size_t count);
/* Returns the bytes that are left of the present run, and where they begin; 0 at the end. */
size_t lmpi_walk_look(const struct lmpi_walk *walk, MPI_Aint *at);
void lmpi_walk_on(struct lmpi_walk *walk, size_t bytes);

/* Returns how many pieces of so many bytes follow each other from here on, each `*step` bytes behind the one before it: at least 1.
 * The present run has the bytes. With 1, the step means nothing. */
size_t lmpi_walk_pieces(const struct lmpi_walk *walk, size_t bytes, MPI_Aint *step);
/* Goes over `count` of these pieces, at most so many as lmpi_walk_pieces has said. */
void lmpi_walk_over(struct lmpi_walk *walk, size_t bytes, size_t count);

#endif
