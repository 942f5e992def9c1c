/* Records of waits of a layer above (uccs_waiting_begin). Any thread. */
#include "base/clock.h"
#include "uccs/am/am.h"
#include "uccs/core/core.h"
#include "rte/stay.h"

static struct node_awaited awaited_of(const struct uccs_waiting *what)
{
    if (what->rank < 0)
        return (struct node_awaited){.may_end = 1};
    return (struct node_awaited){.about = NODE_ABOUT_PES,
                                 .may_end = 1, /* the loop may do anything */
                                 .start = what->rank,
                                 .stride = what->ranks > 1 ? what->stride : 1,
                                 .size = what->ranks > 1 ? what->ranks : 1,
                                 .object = what->place,
                                 .number = what->meeting};
}

int uccs_waiting_begin(const struct uccs_waiting *what, double seconds)
{
    if (!what || !uccs_running())
        return 0;
    const struct node_awaited on = awaited_of(what);
    return (int)rte_stay_begin(&on, what->object, clock_nanoseconds() - (uint64_t)(1e9 * (seconds > 0 ? seconds : 0)),
                               0, 0);
}

void uccs_waiting_end(int record)
{
    if (record > 0)
        rte_stay_end((uint32_t)record);
}
