/* What stats.c counts, and what becomes of it: a table (report.c) and a timeline (trace.c). Times are nanoseconds of CLOCK_MONOTONIC. */
#ifndef STATS_PARTS_H
#define STATS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* What a call does with its time. */
enum stats_kind {
    STATS_MOVES, /* moves bytes, or starts to */
    STATS_WAITS, /* returns when others have done something, or answered */
    STATS_POLLS  /* asked whether something has come, and it had not: the program waits in a loop */
};

/* A call of the program. */
struct stats_call {
    const char *name; /* static text */
    const void *from; /* return address */
    uint64_t begin;
    enum stats_kind kind;
    int pe; /* of the world: it moves bytes to or from that PE; -1: it moves none */
    size_t bytes;
    const void *object; /* symmetric memory where it stores at the PE, or on which it waits; may be null */
    size_t room;        /* bytes that it stores there */
};

#define STATS_PLACES 64
#define STATS_CALL 40

/* Time in one call at one place of the program; equal in all PEs that run the same file. */
struct stats_place {
    uint64_t at; /* the return address: in the program's file, or in memory for another file's; 0: the entry is free */
    uint64_t program; /* 1: in the program's file */
    uint64_t calls, nanoseconds;
    char call[STATS_CALL];
};

struct stats_cell {
    uint64_t operations, bytes;
};

/* What a PE sends to PE 0: this, then a cell for each PE. Moving, waiting and computing are sums over its threads, each from
 * its first call to its last, that which starts and ends the library from start to end. */
struct stats_total {
    uint64_t lived, moving, waiting, computing; /* nanoseconds */
    uint64_t operations, bytes;
    struct stats_place places[STATS_PLACES];
};

/* Prints what all PEs did; entry PE of `all` is at all + PE * stride bytes. PE 0 calls it. */
void stats_print(const char *all, size_t stride, int pes);

/* The timeline. Does nothing when the name of its file is null. */
void trace_open(const struct stats_job *job, const char *name);
/* A call that has ended at `end`, from a place of the program (0: elsewhere). `number` is null, or where the number of the event
 * is kept: polls that follow each other are one event. */
void trace_add(const struct stats_call *call, uint64_t end, uint64_t place, bool follows, uint64_t *number);
/* All PEs call this together; each adds its part to the file in turn. */
void trace_write(const struct stats_job *job);

#endif
