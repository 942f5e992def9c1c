/* Progress both ways: waits of this library move the MPI's messages, and waits of the MPI move ours. */
#ifndef MPI_CORE_PROGRESS_H
#define MPI_CORE_PROGRESS_H

#include <stdbool.h>

void lmpi_progress_begin(void);
void lmpi_progress_end(void);

/* Waits of the MPI call it: moves the substrate's messages once. Returns how many. */
int lmpi_progress_poll(void);

/* workers.c: this thread begins or ends MPI_Init. */
void lmpi_workers_record(bool on);

/* The MPI's waits and tests move the substrate's messages. */
bool lmpi_progress_inside(void);

/* Then they also call `look`, of which there is one. Once. */
void lmpi_progress_also(void (*poll)(void));

/* Above 0: this thread is in a call of the program's, so a wait of the substrate may move the MPI's messages. */
extern _Thread_local int lmpi_calling;

/* Moves the substrate's and the MPI's messages once. Called by a thread that is inside a call of the program's. */
void lmpi_progress(void);

#endif
