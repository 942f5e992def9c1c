/* Whether other threads of this process may wait in a handler of SIGSEGV: a thread that blocks the signal is killed where
 * it would wait. */
#ifndef MPI_FAULTS_H
#define MPI_FAULTS_H

#include <stdbool.h>

/* Returns false when a thread blocks SIGSEGV now, or when that cannot be found out. The caller's own mask does not count.
 * Costs some microseconds for each thread. */
bool lmpi_faults_taken(void);

#endif
