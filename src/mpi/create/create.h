/* Making a window: each rank prepares an offer, the ranks exchange the offers, and all agree whether the window is the layer's or the MPI's. */
#ifndef MPI_CREATE_CREATE_H
#define MPI_CREATE_CREATE_H

#include "mpi/window/window.h"

/* What a rank brings. */
struct lmpi_offer {
    uccs_memory_t memory;     /* that holds the window's bytes and goes with the window; null: none */
    struct lmpi_block *block; /* of an allocated window: whose memory this is; else null */
    size_t offset;            /* of the window's bytes in it */
    char *base;
    size_t bytes;
    int unit;
    int flavor;
    bool of_first;       /* all bytes lie in the memory of rank 0, which all ranks must map */
    const char *why_not; /* this rank cannot */
    MPI_Comm comm;
    MPI_Info info;
    const char *call; /* the function that the program has called */
};

/* lmpi_window_make: the window is the MPI's. No error code is negative. */
#define LMPI_OF_MPI (-1)

/* Collective. `bring` fills in the memory of an offer, which has all else. Sets *win and the offer's base to those of the window, of ours.
 * Returns MPI_SUCCESS; or the class of a wrong argument, after the communicator's error handler; or LMPI_OF_MPI: the caller turns to
 * the MPI. has_results: no other pointer for a result is null. */
int lmpi_window_make(struct lmpi_offer *offer, void (*bring)(struct lmpi_offer *offer), bool has_results, MPI_Win *win);

/* Makes memory for a window, aligned as the hint says; why_not says when there is none. */
void lmpi_offer_new(struct lmpi_offer *offer, size_t bytes);

/* Frees a window that is not in the table. */
void lmpi_window_free(struct lmpi_window *window);

/* Releases the memory handles of this process that hang on a window. */
void lmpi_handles_end(const struct lmpi_window *window);

#endif
