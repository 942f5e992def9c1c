/* The request forms of put, get and the accumulates. Any thread. */
#ifndef MPI_OPS_REQUEST_H
#define MPI_OPS_REQUEST_H

#include "mpi/ops/accumulate.h"
#include "mpi/ops/rma.h"

int lmpi_request_move(struct lmpi_window *window, const struct lmpi_move *move, MPI_Request *request);
int lmpi_request_update(struct lmpi_window *window, const struct lmpi_update *update, MPI_Request *request);

/* An operation that this library adds to MPI's: one of the three. */
struct lmpi_work {
    struct lmpi_move *move;
    struct lmpi_update *update;
    struct lmpi_swap *swap;
    const char *call; /* the name of the function that the program has called */
    int rank;
    int id;     /* of a notification */
    bool whole; /* the bytes lie together on both sides, and there are some: one operation of the substrate */
};

/* Runs it with options for other nodes; null: the window's. Returns MPI_SUCCESS or an error class. */
int lmpi_work_run(struct lmpi_window *window, const struct lmpi_work *work, const struct uccs_op *op);
bool lmpi_work_is_whole(MPI_Aint count, MPI_Datatype origin, MPI_Datatype target);
/* remote.c: starts an operation to another node, whose request completes when it is complete there. Returns what the caller
 * is to return. */
int lmpi_remote_start(struct lmpi_window *window, const struct lmpi_work *work, MPI_Request *request);
/* Makes a request that is complete, or calls the error handler. Returns what the caller is to return. */
int lmpi_request_finish(const struct lmpi_window *window, int status, MPI_Request *request, const char *call);

#endif
