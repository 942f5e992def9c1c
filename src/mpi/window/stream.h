/* How operations to other nodes travel: a stream of the substrate for each kind of window (LMPI_THREAD, LMPI_ORDERED).
 * All windows of a kind share its stream. Kind 0 is the context's own; the others are made at first use and live as long
 * as the substrate. Any thread. */
#ifndef MPI_WINDOW_STREAM_H
#define MPI_WINDOW_STREAM_H

#include <stdbool.h>
#include <uccs.h>

#define LMPI_KINDS 4

/* Returns the endpoint of a kind that leads to a rank of MPI_COMM_WORLD, or null without memory. */
uccs_endpoint_t lmpi_endpoint_along(unsigned kind, int world);
/* Returns the options of a kind's operations, or null: none. The kind has an endpoint. */
const struct uccs_op *lmpi_stream_op(unsigned kind);
/* Completes the operations of a kind: to the process of an endpoint, or with null to all; `threads`: those of all threads,
 * whatever the scope. */
void lmpi_stream_flush(unsigned kind, bool threads, uccs_endpoint_t to);
/* Waits until the program may use the buffers of a kind's operations. */
void lmpi_stream_flush_local(unsigned kind, uccs_endpoint_t to);
/* Releases all streams. No operation is under way. */
void lmpi_streams_end(void);

#endif
