/* The accumulate family between the datatypes of both sides. Any thread. */
#ifndef MPI_OPS_ACCUMULATE_H
#define MPI_OPS_ACCUMULATE_H

#include "mpi/datatype/type.h"
#include "mpi/window/window.h"

struct lmpi_side {
    char *address;
    MPI_Aint count;
    MPI_Datatype type;
};

struct lmpi_update {
    struct lmpi_side origin, result; /* an address of null and a count of 0: none */
    bool fetch;
    int rank;
    MPI_Aint disp, count;
    MPI_Datatype type;
    MPI_Op op;
    const struct uccs_op *way; /* to another node; null: the window's */
    bool later;                /* as of lmpi_move; long ones do not use it */
};

/* Combines the origin's elements with the target's. Returns MPI_SUCCESS or an error class, and calls no error handler. */
int lmpi_update(struct lmpi_window *window, const struct lmpi_update *update);

struct lmpi_swap {
    const void *origin, *compare;
    void *result;
    MPI_Datatype type;
    int rank;
    MPI_Aint disp;
    const struct uccs_op *way; /* to another node; null: the window's */
    bool later;                /* as of lmpi_move */
};

/* MPI_Compare_and_swap in the same way. */
int lmpi_swap(struct lmpi_window *window, const struct lmpi_swap *swap);

/* intrinsic.c: returns whether MPIX_Win_op_intrinsic says so of an operation on `count` elements, and they are aligned at the
 * displacement of `at` bytes; prints a line when not. */
struct lmpi_op;
bool lmpi_promise_kept(const struct lmpi_window *window, int rank, MPI_Aint at, const struct lmpi_op *op, size_t count);

#endif
