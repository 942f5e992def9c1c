/* Names the cause when shared memory runs out.
 *
 * The kernel makes pages of the node's file when they are first used. When the machine has no page left, the access
 * ends in SIGBUS. If the address lies in a watched range, the handler prints one line with PE, sizes and limits, and
 * the process exits with LAT_EXIT. Any other SIGBUS goes to the previous handler or has its default effect.
 *
 * One thread calls buserror_watch, in init. The handler runs in any thread and is
 * async-signal-safe. */
#ifndef BASE_BUSERROR_H
#define BASE_BUSERROR_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define BUSERROR_RANGES 4

/* The facts that the line prints. */
struct buserror_facts {
    size_t heap_bytes; /* of each PE */
    int pes;           /* on this node */
};

/* Adds a range and, on the first call, takes over SIGBUS. Returns 0, EINVAL (empty range, or too many), or an errno
 * value. */
int buserror_watch(const void *start, size_t bytes, const struct buserror_facts *facts);

#endif
