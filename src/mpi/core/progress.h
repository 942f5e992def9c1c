/* Progress both ways: waits of the layer move the MPI's messages, and waits of the MPI move the substrate's. */
#ifndef MPI_CORE_PROGRESS_H
#define MPI_CORE_PROGRESS_H

#include <stdbool.h>

/* Register with the MPI and the substrate, and unregister. The thread of MPI_Init and MPI_Finalize. */
void lmpi_progress_begin(void);
void lmpi_progress_end(void);

/* Makes one progress call of the substrate. Returns the number of messages that it moved. The MPI's waits call it, on any thread. */
int lmpi_progress_poll(void);

/* This thread begins or ends MPI_Init: UCX workers that it makes meanwhile are the MPI's. */
void lmpi_workers_record(bool on);

/* Returns whether the MPI has a list of progress functions (Open MPI), so that its waits and tests call lmpi_progress_poll. */
bool lmpi_progress_inside(void);

/* Adds the one function that lmpi_progress_poll also calls. Once. */
void lmpi_progress_also(void (*poll)(void));

/* Above 0: this thread is in a call of the program's, so a wait of the substrate may move the MPI's messages. */
extern _Thread_local int lmpi_calling;

/* Makes one progress call of the substrate and one of the MPI. Called by a thread of the program that is inside a call. */
void lmpi_progress(void);

#endif
