#include "mpi/datatype/iterator.h"

#include "mpi/datatype/type.h"

/* Enters a node of a sequence, and the first nodes inside of it, down to pieces. */
static void enter_node(struct lmpi_iterator *iterator, const struct lmpi_loop *node, size_t siblings)
{
    MPI_Aint around = iterator->depth ? iterator->level[iterator->depth - 1].at : iterator->at;
    for (;; node = &iterator->type->loop[node->first]) {
        const MPI_Aint at = around + node->at;
        iterator->level[iterator->depth++] = (struct lmpi_level){node, siblings, node->count, at};
        if (node->bytes)
            break;
        siblings = node->n;
        around = at;
    }
    iterator->piece.at = iterator->level[iterator->depth - 1].at;
    iterator->piece.bytes = node->bytes;
    iterator->piece.left = node->count;
    iterator->piece.stride = node->stride;
}

static void enter_element(struct lmpi_iterator *iterator)
{
    enter_node(iterator, &iterator->type->loop[iterator->type->top], iterator->type->nodes - iterator->type->top);
}

void lmpi_iterator_begin(struct lmpi_iterator *iterator, const struct lmpi_type *type, size_t count,
                         struct lmpi_level *level)
{
    *iterator = (struct lmpi_iterator){.type = type, .left = type->size ? count : 0, .level = level};
    if (!iterator->left)
        return;
    const struct lmpi_loop *top = &type->loop[type->top];
    const bool alone = top->bytes && type->nodes == type->top + 1;
    if (!alone || (top->count > 1 && (MPI_Aint)top->count * top->stride != type->extent)) {
        enter_element(iterator);
        return;
    }
    iterator->left = 1; /* the pieces of all elements lie at one distance, or side by side */
    iterator->piece.at = top->at;
    iterator->piece.bytes = type->dense ? count * top->bytes : top->bytes;
    iterator->piece.left = type->dense ? 1 : count * top->count;
    iterator->piece.stride = top->count > 1 ? top->stride : type->extent;
}

void lmpi_iterator_next_node(struct lmpi_iterator *iterator)
{
    while (iterator->depth) {
        struct lmpi_level *in = &iterator->level[iterator->depth - 1];
        const struct lmpi_loop *node = in->node;
        if (!node->bytes && --in->left) {
            in->at += node->stride;
            enter_node(iterator, &iterator->type->loop[node->first], node->n);
            return;
        }
        iterator->depth--;
        if (in->siblings > 1) {
            enter_node(iterator, node + 1, in->siblings - 1);
            return;
        }
    }
    if (--iterator->left) {
        iterator->at += iterator->type->extent;
        enter_element(iterator);
    }
}

/* Both sides have one type, the usual case: each takes as many bytes, so they are at one place of it, and one walk does for both. */
static bool next_of_both(struct lmpi_iterator *here, struct lmpi_iov *pieces)
{
    pieces->bytes = lmpi_iterator_peek(here, &pieces->here);
    if (!pieces->bytes)
        return false;
    pieces->count = lmpi_iterator_spaced(here, pieces->bytes, &pieces->here_step);
    pieces->there = pieces->here;
    pieces->there_step = pieces->here_step;
    lmpi_iterator_skip(here, pieces->bytes, pieces->count);
    return true;
}

bool lmpi_iov_next(struct lmpi_iterator *here, struct lmpi_iterator *there, struct lmpi_iov *pieces)
{
    if (here->type == there->type)
        return next_of_both(here, pieces);
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
