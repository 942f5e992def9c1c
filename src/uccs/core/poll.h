/* Pollers of upper folders. They look for messages that other processes have sent to this one. Upper folders add their
 * pollers, so that every wait serves these folders without knowing them. */
#ifndef UCCS_CORE_POLL_H
#define UCCS_CORE_POLL_H

#include "base/atomic.h"

enum uccs_poller_when {
    UCCS_POLL_ALWAYS, /* called at every look of every wait, and in tests; counts as a piece of work that never ends */
    UCCS_POLL_IDLE    /* called in waits that have spun in vain, and in tests that found nothing */
};
enum { UCCS_POLLERS = 2 }; /* at most this many of each kind */

/* A poller returns non-zero when it found something, else 0, and must not wait. One thread adds a given poller. After
 * uccs_core_poll_remove returns, a thread that was waiting may still be in the poller. */
void uccs_core_poll_add(int (*poll)(void), enum uccs_poller_when when);
void uccs_core_poll_remove(int (*poll)(void));

extern int (*uccs_poll_table[2][UCCS_POLLERS])(void); /* by kind; release: uccs_core_poll_add; acquire: uccs_poll */

/* Calls all pollers of a kind. Returns non-zero when one of them found something, else 0. Any thread. */
static inline int uccs_poll(enum uccs_poller_when when)
{
    int found = 0;
    for (int i = 0; i < UCCS_POLLERS; i++) {
        int (*poll)(void) = atomic_load_acquire(&uccs_poll_table[when][i]); /* release: replace_poller */
        if (poll)
            found |= poll();
    }
    return found;
}

#endif
