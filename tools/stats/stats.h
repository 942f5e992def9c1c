/* The layer of oshrun --stats and --trace: preloaded, it stands between a program and liblateral, defines shmem_X, counts,
 * and calls pshmem_X. Without it nothing is counted and nothing costs.
 *
 * Any thread may call what the wrappers call. Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef STATS_H
#define STATS_H

#include "now.h"

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For the wrappers. `call` is a static text; a pe that the job does not have is left to the library's own error line. */
void stats_moved(const char *call, int pe, size_t bytes, uint64_t begin, const void *stored, size_t room);
void stats_waited(const char *call, const void *from, uint64_t begin, const void *awaited);
int stats_world(shmem_ctx_t ctx, int pe);

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

/* The timeline. Does nothing unless LATERAL_TRACE names a file. */
void trace_open(int me);
/* A call that moves bytes and stores to `room` bytes of symmetric memory at the PE, or (pe -1) a wait for what is stored at
 * `object`, which may be null. */
void trace_add(const char *call, uint64_t begin, uint64_t end, int pe, size_t bytes, const void *object, size_t room);
/* All PEs call this together; each adds its part to the file in turn. */
void trace_write(int me, int pes);

/* flows.c: writes an arrow for each wait that a store of the file has ended. */
void flows_write(FILE *file, const char *name);

/* clocks.c: the clocks of hosts. All PEs call clocks_look together, at begin and end; clocks_of_first turns a time of this PE
 * into one of PE 0's clock. */
void clocks_look(int which);
double clocks_of_first(uint64_t time);

#endif
