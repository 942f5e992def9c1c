#include "walk.h"

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
