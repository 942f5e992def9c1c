/* The slow half of waits that last: they leave a record that others can read (rte/stay.h). */
#include "uccs/core/wait.h"

#include "base/kind.h"
#include "rte/stay.h"

/* Loads the variable and extends its sign; 0 when the wait is for none. The waiter itself looks at it, so it is there. */
static uint64_t value_of(const struct node_awaited *on)
{
    const void *at = (const void *)(uintptr_t)on->object;
    if (on->about != NODE_ABOUT_VARIABLE)
        return 0;
    switch (on->kind) {
    case KIND_I16: return (uint64_t)(int64_t)atomic_load_relaxed((const int16_t *)at);
    case KIND_U16: return atomic_load_relaxed((const uint16_t *)at);
    case KIND_I32: return (uint64_t)(int64_t)atomic_load_relaxed((const int32_t *)at);
    case KIND_U32: return atomic_load_relaxed((const uint32_t *)at);
    default: return atomic_load_relaxed((const uint64_t *)at);
    }
}

static void begin_stay(struct uccs_wait *wait)
{
    if (atomic_load_relaxed(&uccs_pollers_there)) /* they may do anything */
        wait->on.may_end = 1;
    wait->stay = rte_stay_begin(&wait->on, wait->since, uccs_core.heap_start, uccs_core.heap_bytes);
}

lat_cold void uccs_stay(struct uccs_wait *wait)
{
    if (!wait->since)
        wait->since = rte_stay_now();
    else if (!wait->stay && rte_stay_now() - wait->since > RTE_STAY_AFTER)
        begin_stay(wait);
    if (wait->stay)
        rte_stay_looked(wait->stay, value_of(&wait->on));
}

lat_cold void uccs_stay_end(struct uccs_wait *wait)
{
    rte_stay_end(wait->stay);
    wait->stay = 0;
}
