/* The lock of each rank of a window: for readers and a writer, and fair (uccs_lock). */
#ifndef MPI_LOCK_H
#define MPI_LOCK_H

#include "control.h"
#include "progress.h"

/* Ends the job: the lock cannot be reached. */
void lmpi_lock_failed(const struct lmpi_peer *peer, int status) __attribute__((cold));

static inline void lmpi_lock_enter(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    lmpi_calling++;
    int status = near ? uccs_lock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_lock(peer->endpoint, peer->memory, LMPI_WORD(lock), mode);
    lmpi_calling--;
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_lock_failed(peer, status);
}

static inline void lmpi_lock_leave(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    int status = near ? uccs_unlock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_unlock(peer->endpoint, peer->memory, LMPI_WORD(lock), mode);
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_lock_failed(peer, status);
}

/* Enters the lock of a rank of another node, for MPI_Win_lock_all. */
void lmpi_lock_late(struct lmpi_window *window, int rank);

#endif
