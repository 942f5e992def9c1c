/* A walk over the data of elements of a datatype, in order, piece by piece. Any thread; a walk belongs to one thread. */
#ifndef MPI_DATATYPE_ITERATOR_H
#define MPI_DATATYPE_ITERATOR_H

#include "mpi/datatype/flatten.h"

/* A node that the walk is in. */
struct lmpi_level {
    const struct lmpi_loop *node;
    size_t siblings; /* of its sequence, with it */
    size_t left;     /* repetitions, with the present one */
    MPI_Aint at;     /* of the present one */
};

struct lmpi_walk {
    const struct lmpi_type *type;
    size_t left; /* elements, with the present one; 0: at the end */
    MPI_Aint at; /* of the present element */
    struct {
        MPI_Aint at; /* of the present piece */
        size_t bytes, left;
        MPI_Aint stride;
    } piece;                  /* and those that follow it */
    size_t inside;            /* bytes of the present piece that are done */
    struct lmpi_level *level; /* of the nodes around the piece: the caller's memory */
    unsigned depth;
};

/* `level` has room for the type's depth. */
void lmpi_walk_begin(struct lmpi_walk *walk, const struct lmpi_type *type, size_t count, struct lmpi_level *level);
/* The pieces of a node are done. */
void lmpi_walk_next(struct lmpi_walk *walk);

/* Returns the bytes that are left of the present piece, and where they begin; 0 at the end. */
static inline size_t lmpi_walk_look(const struct lmpi_walk *walk, MPI_Aint *at)
{
    if (!walk->left)
        return 0;
    *at = walk->piece.at + (MPI_Aint)walk->inside;
    return walk->piece.bytes - walk->inside;
}

/* Returns how many parts of `bytes` bytes lie at a constant distance, `*step`, from here on: at least 1. The present piece
 * has the bytes. With 1, the step means nothing. */
static inline size_t lmpi_walk_pieces(const struct lmpi_walk *walk, size_t bytes, MPI_Aint *step)
{
    const size_t left = walk->piece.bytes - walk->inside;
    *step = (MPI_Aint)bytes;
    if (bytes < left)
        return left / bytes;
    if (walk->inside)
        return 1;
    *step = walk->piece.stride;
    return walk->piece.left;
}

/* Goes over `count` of these parts, at most as many as lmpi_walk_pieces has said. */
static inline void lmpi_walk_over(struct lmpi_walk *walk, size_t bytes, size_t count)
{
    if (bytes < walk->piece.bytes - walk->inside) {
        walk->inside += bytes * count;
        if (walk->inside < walk->piece.bytes)
            return;
        count = 1;
    }
    walk->inside = 0;
    walk->piece.at += (MPI_Aint)count * walk->piece.stride;
    walk->piece.left -= count;
    if (!walk->piece.left)
        lmpi_walk_next(walk);
}

/* Pieces are what two datatypes have in common: bytes that lie together on both sides. Those of one length that lie a constant
 * distance apart, here and at the target, go as one: a loop of loads and stores in mapped memory, a message to another node. Any
 * thread. */
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
