/* Waiting: the only wait loop. Spin briefly, then yield; on a node with more PEs than cores yield
 * at once, and after long fruitless yielding sleep for short times, so that the PEs with work get
 * the cores. A signal only makes the loop look again.
 *
 * Any thread:
 *     struct uccs_wait wait = {0};
 *     while (atomic_load_acquire(flag) != value)
 *         uccs_pause(&wait);
 */
#ifndef UCCS_PROGRESS_H
#define UCCS_PROGRESS_H

#include "uccs/core.h"

struct uccs_wait {
    uint32_t looks;
};

void uccs_pause_slow(struct uccs_wait *wait);

static inline void uccs_pause(struct uccs_wait *wait)
{
    if (lat_likely(wait->looks < uccs_core.spin))
        wait->looks++;
    else
        uccs_pause_slow(wait);
}

#endif
