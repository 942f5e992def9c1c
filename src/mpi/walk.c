#include "walk.h"

void lmpi_walk_begin(struct lmpi_walk *walk, const struct lmpi_type *type, size_t count)
{
    *walk = (struct lmpi_walk){.type = type, .left = type->size ? count : 0};
}

/* Elements that are dense are one run together. */
static inline size_t run_bytes(const struct lmpi_walk *walk)
{
    const struct lmpi_type *type = walk->type;
    return type->dense ? walk->left * type->size : type->run[walk->run].bytes;
}

size_t lmpi_walk_look(const struct lmpi_walk *walk, MPI_Aint *at)
{
    if (!walk->left)
        return 0;
    *at = walk->at + walk->type->run[walk->run].at + (MPI_Aint)walk->inside;
    return run_bytes(walk) - walk->inside;
}

void lmpi_walk_on(struct lmpi_walk *walk, size_t bytes)
{
    const struct lmpi_type *type = walk->type;
    const size_t run = run_bytes(walk);
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

size_t lmpi_walk_pieces(const struct lmpi_walk *walk, size_t bytes, MPI_Aint *step)
{
    const struct lmpi_type *type = walk->type;
    const struct lmpi_run *run = &type->run[walk->run];
    const size_t left = run_bytes(walk) - walk->inside;
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

void lmpi_walk_over(struct lmpi_walk *walk, size_t bytes, size_t count)
{
    if (bytes < run_bytes(walk) - walk->inside) {
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
