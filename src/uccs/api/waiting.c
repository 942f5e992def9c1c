/* Records of waits of a layer above (uccs_waiting_begin). Any thread. */
#include "base/clock.h"
#include "uccs/am/am.h"
#include "uccs/core/core.h"
#include "rte/wait_record.h"

static struct node_wait_reason awaited_of(const struct uccs_waiting *what)
{
    if (what->rank < 0)
        return (struct node_wait_reason){.may_end = 1};
    return (struct node_wait_reason){.about = NODE_REASON_PES,
                                     .may_end = 1, /* the loop may do anything */
                                     .start = what->rank,
                                     .stride = what->ranks > 1 ? what->stride : 1,
                                     .size = what->ranks > 1 ? what->ranks : 1,
                                     .object = what->place,
                                     .number = what->meeting};
}

/* The clock may be younger than the caller's wait is long, by whatever clock he has measured it. */
static uint64_t time_before(double seconds)
{
    const uint64_t now = clock_nanoseconds();
    const double past = 1e9 * seconds;
    return past > 0 && past < (double)now ? now - (uint64_t)past : past > 0 ? 0 : now;
}

int uccs_waiting_begin(const struct uccs_waiting *what, double seconds)
{
    if (!what || !uccs_running())
        return 0;
    const struct node_wait_reason on = awaited_of(what);
    return (int)rte_wait_record_begin(&on, what->object, time_before(seconds), 0, 0);
}

void uccs_waiting_end(int record)
{
    if (record > 0)
        rte_wait_record_end((uint32_t)record);
}
