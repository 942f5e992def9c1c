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

static inline void lmpi_walk_begin(struct lmpi_walk *walk, const struct lmpi_type *type, size_t count)
{
    *walk = (struct lmpi_walk){.type = type, .left = type->size ? count : 0};
}

/* Elements that are dense are one run together. */
static inline size_t lmpi_walk_run(const struct lmpi_walk *walk)
{
    const struct lmpi_type *type = walk->type;
    return type->dense ? walk->left * type->size : type->run[walk->run].bytes;
}

/* Returns the bytes that are left of the present run, and where they begin; 0 at the end. */
static inline size_t lmpi_walk_look(const struct lmpi_walk *walk, MPI_Aint *at)
{
    if (!walk->left)
        return 0;
    *at = walk->at + walk->type->run[walk->run].at + (MPI_Aint)walk->inside;
    return lmpi_walk_run(walk) - walk->inside;
}

static inline void lmpi_walk_on(struct lmpi_walk *walk, size_t bytes)
{
    const struct lmpi_type *type = walk->type;
    const size_t run = lmpi_walk_run(walk);
    walk->inside += bytes;
    if (walk->inside < run)
        return;
    walk->inside = 0;
    if (type->dense) {
        walk->left = 0;
    } else if (++walk->run == type->runs) {
        walk->run = 0;
        walk->at += type->extent;
        walk->left--;
    }
}

/* Returns how many pieces of so many bytes follow each other from here on, each `*step` bytes behind the one before it: at least 1.
 * The present run has the bytes. With 1, the step means nothing. */
static inline size_t lmpi_walk_pieces(const struct lmpi_walk *walk, size_t bytes, MPI_Aint *step)
{
    const struct lmpi_type *type = walk->type;
    const struct lmpi_run *run = &type->run[walk->run];
    const size_t left = lmpi_walk_run(walk) - walk->inside;
    *step = (MPI_Aint)bytes;
    if (bytes < left)
        return left / bytes;
    if (walk->inside || type->dense)
        return 1;
    if (type->runs == 1) {
        *step = type->extent;
        return walk->left;
    }
    if (run->alike > 1)
        *step = run[1].at - run->at;
    return run->alike;
}

/* Goes over `count` of these pieces, at most so many as lmpi_walk_pieces has said. */
static inline void lmpi_walk_over(struct lmpi_walk *walk, size_t bytes, size_t count)
{
    if (bytes < lmpi_walk_run(walk) - walk->inside) {
        lmpi_walk_on(walk, bytes * count);
        return;
    }
    if (walk->type->runs == 1) {
        walk->at += (MPI_Aint)(count - 1) * walk->type->extent;
        walk->left -= count - 1;
    } else {
        walk->run += count - 1;
    }
    lmpi_walk_on(walk, bytes);
}

#endif
