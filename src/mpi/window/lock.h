/* The lock of each rank of a window: for readers and a writer, and fair (uccs_lock). */
#ifndef MPI_WINDOW_LOCK_H
#define MPI_WINDOW_LOCK_H

#include "mpi/core/process.h"
#include "mpi/core/progress.h"
#include "mpi/window/control.h"

static inline void lmpi_lock_enter(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    lmpi_calling++;
    int status = near ? uccs_lock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_lock(peer->endpoint, peer->memory, LMPI_WORD(lock), mode);
    lmpi_calling--;
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_unreachable("the lock", peer->world, status);
}

static inline void lmpi_lock_leave(const struct lmpi_peer *peer, enum uccs_lock_mode mode)
{
    struct lmpi_control *near = peer->control;
    int status = near ? uccs_unlock_mapped(peer->endpoint, near->lock, mode)
                      : uccs_unlock(peer->endpoint, peer->memory, LMPI_WORD(lock), mode);
    if (__builtin_expect(status != UCCS_OK, 0))
        lmpi_unreachable("the lock", peer->world, status);
}

/* Enters the lock of a rank of another node, for MPI_Win_lock_all. */
void lmpi_lock_late(struct lmpi_window *window, int rank);

#endif
