/* Requests of the program that complete when something of the layer has happened. Each is a generalized request of the
 * MPI's: its waits and tests look whether it has, and complete it. Any thread. */
#ifndef MPI_OPS_PENDING_H
#define MPI_OPS_PENDING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct lmpi_pending {
    const uint64_t *word; /* it has happened once the word, which counts as signed, is at least `least` */
    int64_t least;
    const void *owner; /* for lmpi_pending_end */
    bool cancels;      /* MPI_Cancel ends it */
    int status;        /* an error class; written before the word */

    bool cancelled; /* the rest is of pending.c */
    MPI_Request request;
    struct lmpi_pending *next, **at; /* in the list; at null: not there */
};

static inline bool lmpi_pending_is_done(const struct lmpi_pending *pending)
{
    return (int64_t)__atomic_load_n(pending->word, __ATOMIC_ACQUIRE) >=
           pending->least; /* release: who writes the word */
}

/* Finds out how the MPI can look: before the first request, and then always the same. */
bool lmpi_pending_works(void);

/* Makes the request. The structure comes from malloc, belongs to the request and is freed with it. Returns false when the
 * MPI makes no request; then it is still the caller's. */
bool lmpi_pending_start(struct lmpi_pending *pending, MPI_Request *request);

/* Completes the requests of an owner with an error class. */
void lmpi_pending_end(const void *owner, int status);

#endif
