/* Waits step by step: each pause of a wait is counted and does what the test has set up for it, as a peer would meanwhile. Included
 * behind halves.h and before the source files. */
#ifndef TESTS_TRUST_PAUSED_H
#define TESTS_TRUST_PAUSED_H

#include "uccs/core/wait.h"

static int pauses, paused_until; /* so far; `paused_then` comes with pause number `paused_until` */
static void (*paused_then)(void);

static inline void paused_stub(struct uccs_wait *wait)
{
    wait->looks++;
    pauses++;
    CHECK(pauses <= 1000);
    if (pauses == paused_until)
        paused_then();
}

static inline void paused_plan(int until, void (*then)(void))
{
    pauses = misses = 0;
    paused_until = until;
    paused_then = then;
}

/* A test that finds nothing misses once and pauses never, a wait pauses until its pause number `count`. */
#define MISSED(count) CHECK(misses == (count) && pauses == 0 && (misses = 0) == 0)
#define PAUSED(count) CHECK(pauses == (count) && misses == 0)

#define uccs_pause(wait) paused_stub(wait)

#endif
