/* Put and get between the datatypes of both sides. Any thread. */
#ifndef MPI_OPS_RMA_H
#define MPI_OPS_RMA_H

#include "mpi/datatype/type.h"
#include "mpi/window/window.h"

struct lmpi_move {
    char *origin;
    MPI_Aint origin_count; /* wide enough for the large-count forms */
    MPI_Datatype origin_type;
    int rank;
    MPI_Aint disp, target_count;
    MPI_Datatype target_type;
    bool put;
    const struct uccs_op *op; /* to another node; null: the window's */
    bool later;               /* of an operation to another node: the origin's buffer is in use until a flush */
};

/* Moves the data; the origin's buffer may be used again, or holds the data, on return, or else after a flush. Returns
 * MPI_SUCCESS or an error class, and calls no error handler. */
int lmpi_move(struct lmpi_window *window, const struct lmpi_move *move);

/* The target exists and an epoch is open to it: MPI_SUCCESS or an error class. */
int lmpi_check_target(struct lmpi_window *window, int rank);
/* Sets *at to the place of a displacement. MPI_SUCCESS when `count` elements from there lie inside of the window. */
int lmpi_check_range(const struct lmpi_window *window, int rank, MPI_Aint disp, size_t count,
                     const struct lmpi_type *type, MPI_Aint *at);

/* Returns the options of a window's operation to another node; `room` holds those of one that may be under way when the
 * call returns. */
static inline const struct uccs_op *lmpi_window_op(const struct lmpi_window *window, bool later, struct uccs_op *room)
{
    if (!later)
        return window->op;
    *room = window->op ? *window->op : (struct uccs_op){0};
    room->nonblocking = 1;
    return room;
}

#endif
