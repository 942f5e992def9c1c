#include "mpi/datatype/iterator.h"

#include "mpi/datatype/flatten.h"
#include "mpi/datatype/type.h"

#include <string.h>

/* Enters a node of a sequence, and the first nodes inside of it, down to pieces. */
static void walk_enter(struct lmpi_walk *walk, const struct lmpi_loop *node, size_t siblings)
{
    MPI_Aint around = walk->depth ? walk->level[walk->depth - 1].at : walk->at;
    for (;; node = &walk->type->loop[node->first]) {
        const MPI_Aint at = around + node->at;
        walk->level[walk->depth++] = (struct lmpi_level){node, siblings, node->count, at};
        if (node->bytes)
            break;
        siblings = node->n;
        around = at;
    }
    walk->piece.at = walk->level[walk->depth - 1].at;
    walk->piece.bytes = node->bytes;
    walk->piece.left = node->count;
    walk->piece.stride = node->stride;
}

static void enter_element(struct lmpi_walk *walk)
{
    walk_enter(walk, &walk->type->loop[walk->type->top], walk->type->nodes - walk->type->top);
}

void lmpi_walk_begin(struct lmpi_walk *walk, const struct lmpi_type *type, size_t count, struct lmpi_level *level)
{
    *walk = (struct lmpi_walk){.type = type, .left = type->size ? count : 0, .level = level};
    if (!walk->left)
        return;
    const struct lmpi_loop *top = &type->loop[type->top];
    const bool alone = top->bytes && type->nodes == type->top + 1;
    if (!alone || (top->count > 1 && (MPI_Aint)top->count * top->stride != type->extent)) {
        enter_element(walk);
        return;
    }
    walk->left = 1; /* the pieces of all elements lie at one distance, or side by side */
    walk->piece.at = top->at;
    walk->piece.bytes = type->dense ? count * top->bytes : top->bytes;
    walk->piece.left = type->dense ? 1 : count * top->count;
    walk->piece.stride = top->count > 1 ? top->stride : type->extent;
}

void lmpi_walk_next(struct lmpi_walk *walk)
{
    while (walk->depth) {
        struct lmpi_level *in = &walk->level[walk->depth - 1];
        const struct lmpi_loop *node = in->node;
        if (!node->bytes && --in->left) {
            in->at += node->stride;
            walk_enter(walk, &walk->type->loop[node->first], node->n);
            return;
        }
        walk->depth--;
        if (in->siblings > 1) {
            walk_enter(walk, node + 1, in->siblings - 1);
            return;
        }
    }
    if (--walk->left) {
        walk->at += walk->type->extent;
        enter_element(walk);
    }
}

/* Both sides have one type, the usual case: each takes as many bytes, so they are at one place of it, and one walk does for both. */
static bool next_of_both(struct lmpi_walk *here, struct lmpi_pieces *pieces)
{
    pieces->bytes = lmpi_walk_look(here, &pieces->here);
    if (!pieces->bytes)
        return false;
    pieces->count = lmpi_walk_pieces(here, pieces->bytes, &pieces->here_step);
    pieces->there = pieces->here;
    pieces->there_step = pieces->here_step;
    lmpi_walk_over(here, pieces->bytes, pieces->count);
    return true;
}

bool lmpi_pieces_next(struct lmpi_walk *here, struct lmpi_walk *there, struct lmpi_pieces *pieces)
{
    if (here->type == there->type)
        return next_of_both(here, pieces);
    const size_t ready = lmpi_walk_look(here, &pieces->here), room = lmpi_walk_look(there, &pieces->there);
    if (!ready || !room)
        return false;
    pieces->bytes = ready < room ? ready : room;
    const size_t sent = lmpi_walk_pieces(here, pieces->bytes, &pieces->here_step),
                 taken = lmpi_walk_pieces(there, pieces->bytes, &pieces->there_step);
    pieces->count = sent < taken ? sent : taken;
    lmpi_walk_over(here, pieces->bytes, pieces->count);
    lmpi_walk_over(there, pieces->bytes, pieces->count);
    return true;
}

/* A loop for each length, so that the copy of a piece is one move. */
void lmpi_pieces_copy(char *to, MPI_Aint to_step, const char *from, MPI_Aint from_step, size_t bytes, size_t count)
{
#define EACH(size)                                               \
    case size:                                                   \
        for (; count; count--, to += to_step, from += from_step) \
            memcpy(to, from, size);                              \
        return;
    /* clang-format off */
    switch (bytes) {
        EACH(1) EACH(2) EACH(4) EACH(8) EACH(16)
    default:
        for (; count; count--, to += to_step, from += from_step)
            memcpy(to, from, bytes);
    }
    /* clang-format on */
#undef EACH
}
