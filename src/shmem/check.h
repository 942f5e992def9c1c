/* What liblateral-check.so asks of liblateral: exported as LATERAL_PRIVATE, for the checking layer
 * alone; names and signatures may change with every version.
 *
 * Any thread. The checking layer replaces the shmem_ functions, so it is built outside of this library. */
#ifndef SHMEM_CHECK_H
#define SHMEM_CHECK_H

#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* Symmetric memory around an address. */
struct lat_check_block {
    const char *kind; /* "heap block", "variable", "global variables", "free part of the symmetric heap" */
    uintptr_t start;
    size_t bytes;
    bool usable; /* false in free parts of the heap */
};

/* Ends the job after "lateral: PE 3: call: argument: what is wrong". */
_Noreturn void lat_check_fail(const char *call, const char *argument, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the job for an address that lat_check_find does not find, with a line that says what it is. */
_Noreturn void lat_check_fail_address(const char *call, const char *argument, const void *addr);

/* Prints "lateral: PE 3: call: warning: text" and goes on. */
void lat_check_warn(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "lateral: PE 3: text" and goes on. */
void lat_check_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Names what the program has called and asked for, in the line about a full heap of the calling thread's allocations that
 * follow; call "": they print none; null: as without a checking layer. */
void lat_check_allocates(const char *call, size_t bytes);

/* Ends the job when the library is not between init and finalize. */
void lat_check_running(const char *call);

/* Returns true after the last finalize. */
bool lat_check_finalized(void);

/* Finds what lies around an address. Returns false when the address is not symmetric. */
bool lat_check_find(const void *addr, struct lat_check_block *block);

/* Returns true when a request's handle names an object: it is neither null nor a mark. */
bool lat_check_request_is_object(const void *request);

/* Returns what is wrong with the handle of a counter; null when nothing is. A counter that a team of other PEs has opened
 * passes. */
const char *lat_check_counter(const void *counter);

/* Where this process maps the symmetric memory of the node's PEs: that of node index i begins at peers + i * stride; mine
 * also lies at `mine`. Ranges of 0 bytes are not shared. */
struct lat_check_range {
    uintptr_t mine, peers;
    size_t stride, bytes;
};
struct lat_check_map {
    struct lat_check_range heap, image;
    int first, size; /* the node's first PE, and how many it has */
};
void lat_check_map(struct lat_check_map *map);

/* Every member of the team gives `bytes` bytes, at most 1024, and gets those of member i at all + i * bytes. Works over
 * nodes; one thread of a team at a time. */
void lat_check_meet(shmem_team_t team, const void *mine, size_t bytes, void *all);

/* Like lat_check_meet, for the members of an active set. Returns false when the set has no place to exchange in. */
bool lat_check_meet_set(const char *call, int start, int logstride, int size, long *psync, const void *mine,
                        size_t bytes, void *all);

/* Keeps the objects of requests that end for a while, so that a copy of an old handle names no new request. */
void lat_check_keep_requests(void);

/* Tells the address sanitizer or valgrind, when the program runs under one, that these bytes must not be used. */
void lat_check_forbid(const void *at, size_t bytes);

#pragma GCC visibility pop

/* The life of the symmetric heap, and the block around an address. What programs call is in calls.h.
 *
 * open and close: in init and finalize. around: any thread. */

/* Returns 0, or -1 when there is no memory for the bookkeeping. */
int lat_mem_open(void);
void lat_mem_close(void);

/* Finds the live heap block around an address. Returns false when there is none. */
bool lat_mem_around(const void *addr, uintptr_t *start, size_t *bytes);

#endif
