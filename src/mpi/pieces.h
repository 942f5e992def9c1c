/* Pieces are what two datatypes have in common: bytes that lie together on both sides. Those of one length that lie a constant
 * distance apart, here and at the target, go as one: a loop of loads and stores in mapped memory, a message to another node. Any
 * thread. */
#ifndef MPI_PIECES_H
#define MPI_PIECES_H

#include "walk.h"

struct lmpi_pieces {
    size_t bytes, count;            /* of each piece; pieces */
    MPI_Aint here, there;           /* of the first one */
    MPI_Aint here_step, there_step; /* from the start of a piece to the start of the next */
};

/* Takes the next pieces off both walks, in order and as many as lie alike. Returns false when one of the walks is at its end. */
bool lmpi_pieces_next(struct lmpi_walk *here, struct lmpi_walk *there, struct lmpi_pieces *pieces);

/* Copies pieces in their order. One of 1, 2, 4, 8 or 16 bytes is one load and one store. */
void lmpi_pieces_copy(char *to, MPI_Aint to_step, const char *from, MPI_Aint from_step, size_t bytes, size_t count);

#endif
