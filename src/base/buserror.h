/* Names the cause when shared memory runs out.
 *
 * Pages of the node's file are made by use. When the machine has none left, the access ends in SIGBUS;
 * an address in a watched range gets one line with PE, sizes and limits, and the process exits
 * with LAT_EXIT. Any other SIGBUS goes to whoever handled it before, or has its default effect.
 *
 * buserror_watch, buserror_forget: one thread, in init and finalize. The handler runs in any
 * thread and is async-signal-safe. */
#ifndef BASE_BUSERROR_H
#define BASE_BUSERROR_H

#include <signal.h>
#include <stddef.h>

#define BUSERROR_RANGES 4

/* What the line tells. */
struct buserror_facts {
    size_t heap_bytes; /* of each PE */
    int pes;           /* on this node */
};

/* Adds a range and, the first time, takes over SIGBUS. 0, EINVAL (no range, or too many) or an errno value. */
int buserror_watch(const void *start, size_t bytes, const struct buserror_facts *facts);

/* No ranges any more; the handler stays and passes everything on. */
void buserror_forget(void);

#endif
