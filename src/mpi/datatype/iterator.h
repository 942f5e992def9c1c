/* A walk over the data of elements of a datatype, in order, piece by piece. Any thread; a walk belongs to one thread. */
#ifndef MPI_DATATYPE_ITERATOR_H
#define MPI_DATATYPE_ITERATOR_H

#include "mpi/datatype/type.h"

/* A node that the walk is in. */
struct lmpi_level {
    const struct lmpi_loop *node;
    size_t siblings; /* of its sequence, with it */
    size_t left;     /* repetitions, with the present one */
    MPI_Aint at;     /* of the present one */
};

struct lmpi_iterator {
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
void lmpi_iterator_begin(struct lmpi_iterator *iterator, const struct lmpi_type *type, size_t count,
                         struct lmpi_level *level);
/* The pieces of a node are done. */
void lmpi_iterator_next_node(struct lmpi_iterator *iterator);

/* Returns the bytes that are left of the present piece, and where they begin; 0 at the end. */
static inline size_t lmpi_iterator_peek(const struct lmpi_iterator *iterator, MPI_Aint *at)
{
    if (!iterator->left)
        return 0;
    *at = iterator->piece.at + (MPI_Aint)iterator->inside;
    return iterator->piece.bytes - iterator->inside;
}

/* Returns how many parts of `bytes` bytes lie at a constant distance, `*step`, from here on: at least 1. The present piece
 * has the bytes. With 1, the step means nothing. */
static inline size_t lmpi_iterator_spaced(const struct lmpi_iterator *iterator, size_t bytes, MPI_Aint *step)
{
    const size_t left = iterator->piece.bytes - iterator->inside;
    *step = (MPI_Aint)bytes;
    if (bytes < left)
        return left / bytes;
    if (iterator->inside)
        return 1;
    *step = iterator->piece.stride;
    return iterator->piece.left;
}

/* Goes over `count` of these parts, at most as many as lmpi_iterator_spaced has said. */
static inline void lmpi_iterator_skip(struct lmpi_iterator *iterator, size_t bytes, size_t count)
{
    if (bytes < iterator->piece.bytes - iterator->inside) {
        iterator->inside += bytes * count;
        if (iterator->inside < iterator->piece.bytes)
            return;
        count = 1;
    }
    iterator->inside = 0;
    iterator->piece.at += (MPI_Aint)count * iterator->piece.stride;
    iterator->piece.left -= count;
    if (!iterator->piece.left)
        lmpi_iterator_next_node(iterator);
}

/* Pieces are what two datatypes have in common: bytes that lie together on both sides. Those of one length that lie a constant
 * distance apart, here and at the target, go as one: a loop of loads and stores in mapped memory, a message to another node. Any
 * thread. */
struct lmpi_iov {
    size_t bytes, count;            /* of each piece; pieces */
    MPI_Aint here, there;           /* of the first one */
    MPI_Aint here_step, there_step; /* from the start of a piece to the start of the next */
};

/* Takes the next pieces off both walks, in order and as many as lie alike. Returns false when one of the walks is at its end. */
bool lmpi_iov_next(struct lmpi_iterator *here, struct lmpi_iterator *there, struct lmpi_iov *pieces);

#endif
