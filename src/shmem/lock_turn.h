/* Turns: one thread of a PE at a time is in a lock's queue (lock.c); further threads of the PE wait here, first come,
 * first served.
 *
 * Any thread. A PE's node word of a lock is 0 while none of its threads wants the lock. A thread takes the word from 0 to
 * LOCK_TAKEN, and only the thread that has the turn joins the queue of PEs. Threads that find the word taken set
 * LOCK_CROWD and wait in a private list; passing the turn then hands it to the first of them. A PE's threads get one
 * place in the queue of PEs at a time, so a PE with many threads does not keep others from the lock.
 *
 * Orders: taking a turn acquires (swap of the word, load of the waiter's flag), passing it releases. */
#ifndef SHMEM_LOCK_TURN_H
#define SHMEM_LOCK_TURN_H

#include "base/atomic.h"

#include <stdbool.h>

enum {
    LOCK_WAITING = 1, /* the PE waits for the one ahead of it, which clears the bit */
    LOCK_TAKEN = 2,   /* a thread of the PE has the turn: it waits for the lock or holds it */
    LOCK_CROWD = 4,   /* further threads of the PE wait for the turn */
    LOCK_BEHIND = 8   /* from here on: 1 + the PE behind, which writes it; 0 while nobody is behind */
};

/* Takes the turn when nobody has it, and makes the word `taken`. Returns false when somebody has it. */
static inline bool lat_lock_turn_try(uint32_t *node, uint32_t taken)
{
    uint32_t nobody = 0;
    return atomic_cas_acquire(node, &nobody, taken); /* release: lat_lock_turn_pass */
}

/* Waits for the turn; the word is LOCK_TAKEN | LOCK_WAITING then, perhaps with LOCK_CROWD. */
void lat_lock_turn_wait(uint32_t *node);

/* Passes the turn on. `node_is`: the word's value, but for LOCK_CROWD. Nobody at other PEs writes the word meanwhile. */
void lat_lock_turn_pass(uint32_t *node, uint32_t node_is);

#endif
