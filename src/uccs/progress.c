#include "uccs/progress.h"

#include <sched.h>
#include <time.h>

#define YIELDS_BEFORE_SLEEP 500 /* some milliseconds on a crowded node */
#define SLEEP_NANOSECONDS 50000

/* Out of line: the processor is given away, so a call more is nothing. */
lat_cold void uccs_pause_slow(struct uccs_wait *wait)
{
    uint32_t yields = wait->looks++ - uccs_core.spin;
    if (!uccs_core.oversubscribed || yields < YIELDS_BEFORE_SLEEP) {
        sched_yield();
        return;
    }
    if (wait->looks == UINT32_MAX)
        wait->looks--;
    struct timespec time = {0, SLEEP_NANOSECONDS};
    nanosleep(&time, 0);
}
