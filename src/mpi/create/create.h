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
};

/* Collective. Returns the window, or null with `why_not` in the offer; then the caller turns to the MPI and gives back its
 * memory. */
struct lmpi_window *lmpi_window_make(struct lmpi_offer *offer, MPI_Comm comm, MPI_Info info);

/* Makes memory for a window, aligned as the hint says; why_not says when there is none. */
void lmpi_offer_new(struct lmpi_offer *offer, size_t bytes, MPI_Info info);

/* Gives back the memory of an offer that came to nothing. */
void lmpi_offer_drop(const struct lmpi_offer *offer);

/* Frees all that belongs to a window but its handle window. */
void lmpi_window_free(struct lmpi_window *window);

/* Releases the memory handles of this process that hang on a window. */
void lmpi_handles_end(const struct lmpi_window *window);

#endif
