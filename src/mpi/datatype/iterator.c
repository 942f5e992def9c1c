#include "mpi/datatype/iterator.h"

#include "mpi/datatype/type.h"

/* Enters a node of a sequence that begins at `around`, and the first nodes inside of it, down to pieces. */
static void enter_node(struct lmpi_iterator *iterator, const struct lmpi_loop *node, size_t siblings, MPI_Aint around)
{
    for (; !node->bytes; node = &iterator->type->loop[node->first]) {
        const MPI_Aint at = around + node->at;
        iterator->level[iterator->depth++] = (struct lmpi_level){node, siblings, node->count, around, at};
        siblings = node->n;
        around = at;
    }
    iterator->around = around;
    lmpi_iterator_enter(iterator, node, siblings);
}

static void enter_element(struct lmpi_iterator *iterator)
{
    const struct lmpi_type *type = iterator->type;
    enter_node(iterator, &type->loop[type->top], type->nodes - type->top, iterator->at);
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
    iterator->left = iterator->siblings = 1; /* the pieces of all elements lie at one distance, or side by side */
    iterator->piece.at = top->at;
    iterator->piece.bytes = type->dense ? count * top->bytes : top->bytes;
    iterator->piece.left = type->dense ? 1 : count * top->count;
    iterator->piece.stride = top->count > 1 ? top->stride : type->extent;
}

void lmpi_iterator_leave_sequence(struct lmpi_iterator *iterator)
{
    const struct lmpi_loop *node = iterator->node;
    size_t siblings = iterator->siblings;
    MPI_Aint around = iterator->around;
    while (siblings < 2 && iterator->depth) {
        struct lmpi_level *in = &iterator->level[iterator->depth - 1];
        if (--in->left) {
            in->at += in->node->stride;
            enter_node(iterator, &iterator->type->loop[in->node->first], in->node->n, in->at);
            return;
        }
        iterator->depth--;
        node = in->node;
        siblings = in->siblings;
        around = in->around;
    }
    if (siblings > 1) {
        enter_node(iterator, node + 1, siblings - 1, around);
    } else if (--iterator->left) {
        iterator->at += iterator->type->extent;
        enter_element(iterator);
    }
}
