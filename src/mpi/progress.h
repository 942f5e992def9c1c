/* Progress both ways: waits of this library move the MPI's messages, and waits of the MPI move ours. */
#ifndef MPI_PROGRESS_H
#define MPI_PROGRESS_H

#include "life.h"

void lmpi_progress_begin(void);
void lmpi_progress_end(void);

/* Waits of the MPI call it: moves the substrate's messages once. Returns how many. */
int lmpi_progress_serve(void);

/* workers.c: this thread begins or ends MPI_Init. */
void lmpi_workers_record(bool on);

/* The MPI's waits and tests move the substrate's messages. */
bool lmpi_progress_inside(void);

/* Then they also call `look`, of which there is one. Once. */
void lmpi_progress_watch(void (*look)(void));

/* Above 0: this thread is in a call of the program's, so a wait of the substrate may move the MPI's messages. */
extern _Thread_local int lmpi_calling;

/* Moves the substrate's and the MPI's messages once. Called by a thread that is inside a call of the program's. */
void lmpi_progress(void);

/* Any thread in a call of the program's:
 *     struct lmpi_wait wait lmpi_scoped = {.window = window, .rank = rank};
 *     while (atomic_load_acquire(word) != value)
 *         lmpi_pause(&wait);
 * A wait that lasts tells for whom it is, to those who ask why the job hangs. */
struct lmpi_window;
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

/* wait.c: makes the record once the wait has lasted for a while. */
void lmpi_wait_tell(struct lmpi_wait *wait);

void lmpi_pause_slow(struct lmpi_wait *wait);

enum { LMPI_LOOKS = 1000 }; /* at memory alone, before a wait makes progress */

static inline void lmpi_pause(struct lmpi_wait *wait)
{
    if (__builtin_expect(wait->looks < LMPI_LOOKS && !lmpi_life.crowded, 1))
        wait->looks++;
    else
        lmpi_pause_slow(wait);
}

#endif
