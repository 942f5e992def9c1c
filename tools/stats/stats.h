/* The layers of --stats and --trace. Preloaded, they stand between a program and a library, count, and call on: one of oshrun for
 * OpenSHMEM and uccs.h (shmem.c, uccs.c), and one of lateral-mpi for each MPI (mpi.c). Without them nothing is counted and
 * nothing costs. This header and the files report.c and trace.c serve all.
 *
 * Any thread may call what the wrappers call. Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline uint64_t stats_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* How the PEs of the job reach each other. The functions are collective over the job. */
struct stats_job {
    int me, npes;
    bool one_host; /* the PEs have one clock */
    void (*meet)(void);
    void (*share)(const uint64_t *mine, uint64_t *all); /* all[PE] becomes the word of that PE */
    /* Brings `bytes` bytes of each PE to PE 0, which calls `use` with them side by side. */
    void (*gather)(const void *mine, size_t bytes, void (*use)(const char *all, size_t stride, int pes));
    /* Returns 1 + the place of an address in memory that all PEs address alike; 0: it lies elsewhere. May be null. */
    uint64_t (*place)(const void *object);
};

/* For the functions that start and end a library. Calls are counted: the first begin starts, the last end, which comes before
 * the library's own, brings all to PE 0, which prints it. */
void stats_begin(const struct stats_job *job); /* null unless it is the first one */
void stats_end(const struct stats_job *job);   /* null unless it is the last one */
bool stats_has_begun(void);
bool stats_is_last(void); /* the next end is the last one */

/* For the wrappers. `call` is a static text; a pe that the job does not have is left to the library's own error line. */
void stats_moved(const char *call, int pe, size_t bytes, uint64_t begin, const void *stored, size_t room);
void stats_waited(const char *call, const void *from, uint64_t begin, const void *awaited);

#define STATS_PLACES 64
#define STATS_CALL 40

/* Waiting in one call at one place of the program; equal in all PEs that run the same file. */
struct stats_place {
    uint64_t at; /* the return address: in the program's file, or in memory for another file's; 0: the entry is free */
    uint64_t program; /* 1: in the program's file */
    uint64_t waits, nanoseconds;
    char call[STATS_CALL];
};

struct stats_cell {
    uint64_t operations, bytes;
};

/* What a PE sends to PE 0: this, then a cell for each PE. */
struct stats_total {
    uint64_t began, lived, waited; /* nanoseconds */
    uint64_t operations, bytes;
    struct stats_place places[STATS_PLACES];
};

/* Prints what all PEs did; entry PE of `all` is at all + PE * stride bytes. PE 0 calls it. */
void stats_print(const char *all, size_t stride, int pes);

/* Returns the name of the file for the timeline, or null: none is wanted. */
const char *stats_trace_name(void);

/* The timeline. Does nothing unless LATERAL_STATS names a file. */
void trace_open(const struct stats_job *job);
/* A call that moves bytes and stores to `room` bytes of symmetric memory at the PE, or (pe -1) a wait for what is stored at
 * `object`, which may be null. */
void trace_add(const char *call, uint64_t begin, uint64_t end, int pe, size_t bytes, const void *object, size_t room);
/* All PEs call this together; each adds its part to the file in turn. */
void trace_write(const struct stats_job *job);

#endif
