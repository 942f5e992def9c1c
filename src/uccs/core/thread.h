/* Gives a small number to every thread that enters the substrate, so that threads keep to workers, shards and lines of
 * their own. Any thread. A thread takes the lowest number that no other thread has, and gives it back when it ends; what
 * it has left under way then counts as the next owner's. A user with n workers takes the number modulo n. */
#ifndef UCCS_CORE_THREAD_H
#define UCCS_CORE_THREAD_H

#include "base/atomic.h"

extern _Thread_local uint32_t uccs_thread_mine; /* number + 1; 0: the thread has no number yet */
uint32_t uccs_thread_new(void);

/* Returns a number above that of every thread so far. The caller has synchronised with the threads that it asks about. */
uint32_t uccs_threads(void);

#define UCCS_THREAD_NUMBERS 4096 /* further threads share numbers */

static inline uint32_t uccs_thread(void)
{
    return lat_likely(uccs_thread_mine != 0) ? uccs_thread_mine - 1 : uccs_thread_new();
}

#endif
