/* A small number for every thread that enters the substrate, so that threads keep to lanes, shards and lines of
 * their own. Any thread. Numbers go up and are not used again; users take them modulo what they have. */
#ifndef UCCS_CORE_THREAD_H
#define UCCS_CORE_THREAD_H

#include "base/atomic.h"

extern _Thread_local uint32_t uccs_thread_mine; /* number + 1; 0: none yet */
uint32_t uccs_thread_new(void);

static inline uint32_t uccs_thread(void)
{
    return lat_likely(uccs_thread_mine != 0) ? uccs_thread_mine - 1 : uccs_thread_new();
}

#endif
