#include "uccs/core/thread.h"

_Thread_local uint32_t uccs_thread_mine;

lat_cold uint32_t uccs_thread_new(void)
{
    static uint32_t threads;
    uccs_thread_mine = atomic_fetch_add_relaxed(&threads, 1) + 1; /* it hands out numbers and publishes nothing */
    return uccs_thread_mine - 1;
}
