/* Tests return to the caller instead of waiting. A loop of tests is a wait as well, so a test that found nothing does
 * the same as a wait: it advances work, calls the pollers, and yields where the node has more PEs than cores. Now and
 * then it yields on any node, since there may be more threads than cores. While there are pollers but no work, and
 * tests follow each other quickly, most tests omit their look. */
#ifndef UCCS_CORE_MISS_H
#define UCCS_CORE_MISS_H

#include "uccs/core/core.h"
#include "uccs/core/due.h"

extern _Thread_local uint8_t uccs_misses; /* of this thread */
void uccs_missed_slow(bool yield);

extern _Thread_local uint32_t uccs_omitted; /* tests of this thread until the next one that looks */

static inline bool uccs_miss_has_work(void)
{
    return atomic_load_relaxed(&uccs_due) | atomic_load_relaxed(&uccs_due_idle);
}

static inline bool uccs_miss_omits(void)
{
    if (!uccs_omitted || uccs_due_ends())
        return false;
    uccs_omitted--;
    return true;
}

static inline void uccs_missed(void)
{
    bool yield = (++uccs_misses == 0) | (uccs_core.oversubscribed != 0);
    if (lat_unlikely(yield || (uccs_miss_has_work() && !uccs_miss_omits())))
        uccs_missed_slow(yield);
}

/* Fetches call this. They do not know whether the caller found the value it waits for, so they yield less often. */
static inline void uccs_fetched(void)
{
    bool yield = (++uccs_misses & (uccs_core.oversubscribed ? 63 : 255)) == 0;
    if (lat_unlikely(yield || (uccs_miss_has_work() && !uccs_miss_omits())))
        uccs_missed_slow(yield);
}

#endif
