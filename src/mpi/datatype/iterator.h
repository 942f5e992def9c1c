/* A walk over the data of elements of a datatype, in order, piece by piece. Any thread; a walk belongs to one thread. */
#ifndef MPI_DATATYPE_ITERATOR_H
#define MPI_DATATYPE_ITERATOR_H

#include "mpi/datatype/type.h"

/* A loop that the walk is in. */
struct lmpi_level {
    const struct lmpi_loop *node;
    size_t siblings; /* of its sequence, with it */
    size_t left;     /* repetitions, with the present one */
    MPI_Aint around; /* where its sequence begins */
    MPI_Aint at;     /* of the present repetition */
};

struct lmpi_iterator {
    const struct lmpi_type *type;
    size_t left; /* elements, with the present one; 0: at the end */
    MPI_Aint at; /* of the present element */
    struct {
        MPI_Aint at; /* of the present piece */
        size_t bytes, left;
        MPI_Aint stride;
    } piece;                      /* and those that follow it */
    size_t inside;                /* bytes of the present piece that are done */
    const struct lmpi_loop *node; /* that the pieces are of */
    size_t siblings;              /* of its sequence, with it */
    MPI_Aint around;              /* where its sequence begins */
    struct lmpi_level *level;     /* of the loops around it: the caller's memory */
    unsigned depth;
};

/* `level` has room for the type's depth. */
void lmpi_iterator_begin(struct lmpi_iterator *iterator, const struct lmpi_type *type, size_t count,
                         struct lmpi_level *level);
/* Goes to a node that has pieces, in the sequence that begins at `around`. */
static inline void lmpi_iterator_enter(struct lmpi_iterator *iterator, const struct lmpi_loop *node, size_t siblings)
{
    iterator->node = node;
    iterator->siblings = siblings;
    iterator->piece.at = iterator->around + node->at;
    iterator->piece.bytes = node->bytes;
    iterator->piece.left = node->count;
    iterator->piece.stride = node->stride;
}

/* The pieces of a node are done. leave_sequence: so is its sequence, or the next node is a loop. */
void lmpi_iterator_leave_sequence(struct lmpi_iterator *iterator);
static inline void lmpi_iterator_leave(struct lmpi_iterator *iterator)
{
    if (iterator->siblings > 1 && iterator->node[1].bytes)
        lmpi_iterator_enter(iterator, iterator->node + 1, iterator->siblings - 1);
    else
        lmpi_iterator_leave_sequence(iterator);
}

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
        lmpi_iterator_leave(iterator);
}

/* Pieces are what two datatypes have in common: bytes that lie together on both sides. Those of one length that lie a constant
 * distance apart, here and at the target, go as one: a loop of loads and stores in mapped memory, a message to another node. Any
 * thread. */
struct lmpi_iov {
    size_t bytes, count;            /* of each piece; pieces */
    MPI_Aint here, there;           /* of the first one */
    MPI_Aint here_step, there_step; /* from the start of a piece to the start of the next */
};

/* Both sides have one type, the usual case: each takes as many bytes, so both are at the start of a
 * node, and one walk does for both. */
static inline bool lmpi_iov_next_of_both(struct lmpi_iterator *here, struct lmpi_iov *pieces)
{
    if (!here->left)
        return false;
    *pieces = (struct lmpi_iov){here->piece.bytes, here->piece.left,   here->piece.at,
                                here->piece.at,    here->piece.stride, here->piece.stride};
    lmpi_iterator_leave(here);
    return true;
}

/* Takes the next pieces off both walks, in order and as many as lie alike. Returns false when one of the walks is at its end. */
static inline bool lmpi_iov_next(struct lmpi_iterator *here, struct lmpi_iterator *there, struct lmpi_iov *pieces)
{
    if (here->type == there->type)
        return lmpi_iov_next_of_both(here, pieces);
    const size_t ready = lmpi_iterator_peek(here, &pieces->here), room = lmpi_iterator_peek(there, &pieces->there);
    if (!ready || !room)
        return false;
    pieces->bytes = ready < room ? ready : room;
    const size_t sent = lmpi_iterator_spaced(here, pieces->bytes, &pieces->here_step),
                 taken = lmpi_iterator_spaced(there, pieces->bytes, &pieces->there_step);
    pieces->count = sent < taken ? sent : taken;
    lmpi_iterator_skip(here, pieces->bytes, pieces->count);
    lmpi_iterator_skip(there, pieces->bytes, pieces->count);
    return true;
}

#endif
