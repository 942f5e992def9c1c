/* The request forms of put, get and the accumulates. Any thread. */
#ifndef MPI_REQUEST_H
#define MPI_REQUEST_H

#include "accumulate.h"
#include "rma.h"

int lmpi_request_move(struct lmpi_window *window, const struct lmpi_move *move, MPI_Request *request);
int lmpi_request_update(struct lmpi_window *window, const struct lmpi_update *update, MPI_Request *request);

#endif
