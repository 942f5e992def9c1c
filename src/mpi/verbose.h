/* LATERAL_MPI_VERBOSE=1: lines on standard error that say who carries each window, and why. Any thread. */
#ifndef MPI_VERBOSE_H
#define MPI_VERBOSE_H

/* True when the lines are wanted. */
int lmpi_verbose(void);
void lmpi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
