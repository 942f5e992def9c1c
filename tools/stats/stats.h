/* The layers of --stats and --trace. Preloaded, they stand between a program and a library, count, and call on: one of oshrun for
 * OpenSHMEM and uccs.h (of_shmem.c, of_uccs.c), and one of lateral-mpi for each MPI (of_mpi.c). Without them nothing is counted
 * and nothing costs. wrappers.py writes the functions that stand in front; stats.c has what these call, and calls report.c
 * and trace.c.
 *
 * Any thread may call what the wrappers call. Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef STATS_H
#define STATS_H

#include "parts.h"

/* For the functions that start and end a library. Calls are counted: the first begin starts, the last end, which comes before
 * the library's own, brings all to PE 0, which prints it. */
void stats_begin(const struct stats_job *job); /* null unless it is the first one */
void stats_end(const struct stats_job *job);   /* null unless it is the last one */
bool stats_has_begun(void);
bool stats_is_last(void); /* the next end is the last one */

/* Returns the function of this name behind the layer; ends the process when there is none. */
void *stats_next(const char *name);

/* Around each call. Time of a call inside of another one of the same thread is the outer one's; its bytes count. */
void stats_enter(struct stats_call *call);
void stats_leave(const struct stats_call *call);
bool stats_inside(void); /* the calling thread is between the two */

/* For the layer of --check, which comes behind this one: where the program has called; null: not from here. Exported. */
const void *lat_stats_from(void);

#endif
