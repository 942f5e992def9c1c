/* Waits of the layer for a word of its own. */
#ifndef MPI_WINDOW_WAIT_H
#define MPI_WINDOW_WAIT_H

#include "mpi/core/process.h"
#include "mpi/window/window.h"

/* Any thread in a call of the program's:
 *     struct lmpi_wait wait lmpi_scoped = {.window = window, .rank = rank};
 *     while (atomic_load_acquire(word) != value)
 *         lmpi_pause(&wait);
 * A wait that lasts tells for whom it is, to those who ask why the job hangs. */
struct lmpi_wait {
    unsigned looks;
    int record;                       /* of a wait that lasts; 0: none */
    double since;                     /* when it became slow; 0: it has not */
    const struct lmpi_window *window; /* that the wait is about; null: none */
    int rank;                         /* of the window: who is waited for; LMPI_ALL: all meet; LMPI_SOME: not known */
};
enum { LMPI_ALL = -1, LMPI_SOME = -2 };

/* Every struct lmpi_wait is declared with this attribute, which ends its record with its scope. */
#define lmpi_scoped __attribute__((cleanup(lmpi_wait_end)))
static inline void lmpi_wait_end(struct lmpi_wait *wait)
{
    if (__builtin_expect(wait->record, 0))
        uccs_waiting_end(wait->record);
}

void lmpi_pause_slow(struct lmpi_wait *wait);

enum { LMPI_SPINS = 1000 }; /* at memory alone, before a wait makes progress */

static inline void lmpi_pause(struct lmpi_wait *wait)
{
    if (__builtin_expect(wait->looks < LMPI_SPINS && !lmpi_process.crowded, 1))
        wait->looks++;
    else
        lmpi_pause_slow(wait);
}

#endif
