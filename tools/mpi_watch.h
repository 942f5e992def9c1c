/* lateral-mpi --timeout: runs the launcher as a child with a limit of time, and tells where its processes on this machine
 * are when the limit is reached, or when Ctrl-\ asks. One thread. */
#ifndef TOOLS_MPI_WATCH_H
#define TOOLS_MPI_WATCH_H

#include <stdbool.h>

/* Reads a time as oshrun does: 90, 90s, 1.5m, 2h. Returns seconds, or 0 when it is none. */
double mpi_watch_time(const char *text);

/* Runs the command. Returns its exit status as a shell shows it, 124 after the limit, or -1 when it cannot be run, with
 * errno set. */
int mpi_watch_run(char **command, double seconds);

#endif
