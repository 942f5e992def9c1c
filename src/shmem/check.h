/* What liblateral-check.so asks of liblateral: exported as LATERAL_PRIVATE, for the checking layer
 * alone; names and signatures may change with every version.
 *
 * Any thread. The checking layer replaces the shmem_ functions, so it is built outside of this library. */
#ifndef SHMEM_CHECK_H
#define SHMEM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* Symmetric memory around an address. */
struct lat_check_block {
    const char *kind; /* "heap block", "global variables", "free part of the symmetric heap" */
    uintptr_t start;
    size_t bytes;
    bool usable; /* false in free parts of the heap */
};

/* Ends the job after "lateral: PE 3: call: argument: what is wrong". */
_Noreturn void lat_check_fail(const char *call, const char *argument, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "lateral: PE 3: call: warning: text" and goes on. */
void lat_check_warn(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

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

#pragma GCC visibility pop

#endif
