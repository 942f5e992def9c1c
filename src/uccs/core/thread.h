/* Gives a small number to every thread that enters the substrate, so that threads keep to lanes, shards and lines of
 * their own. Any thread. Numbers grow and are never used again; a user with n lanes takes the number modulo n. */
#ifndef UCCS_CORE_THREAD_H
#define UCCS_CORE_THREAD_H

#include "base/atomic.h"

extern _Thread_local uint32_t uccs_thread_mine; /* number + 1; 0: the thread has no number yet */
uint32_t uccs_thread_new(void);

static inline uint32_t uccs_thread(void)
{
    return lat_likely(uccs_thread_mine != 0) ? uccs_thread_mine - 1 : uccs_thread_new();
}

#endif
