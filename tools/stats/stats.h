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

/* A function in front of another one. */
struct stats_site {
    const char *name;
    const char *behind; /* the name of the other one; null: the same */
    void *next;         /* the other one, once it has been looked for */
};

/* These return the function behind the layer; they end the process when there is none. */
void *stats_next(const char *name);
void *stats_behind(struct stats_site *site);

/* Around each call; enter returns the function behind. Time of a call inside of another one of the same thread is the outer one's; its
 * bytes count. Nothing is counted, and no leave is due, where `begin` is 0 after enter. */
void *stats_enter(struct stats_call *call, struct stats_site *site, const void *from);
void stats_leave(struct stats_call *call, enum stats_kind kind, int pe, size_t bytes, const void *object, size_t room);
bool stats_inside(void); /* the calling thread is between the two */

/* For the layer of --check, which comes behind this one: where the program has called; null: not from here. Exported. */
const void *lat_stats_from(void);

#endif
