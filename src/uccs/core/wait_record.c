/* The slow half of waits that last: they leave a record that others can read (rte/wait_record.h). */
#include "uccs/core/wait_record.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/kind.h"
#include "rte/rte.h"
#include "rte/wait_record.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/core.h"
#include "uccs/core/poller.h"

/* Loads the variable and extends its sign; 0 when the wait is for none. The waiter itself looks at it, so it is there. */
static uint64_t value_of(const struct node_wait_reason *on)
{
    const void *at = (const void *)(uintptr_t)on->object;
    if (on->about != NODE_REASON_VARIABLE)
        return 0;
    switch (on->kind) {
    case KIND_I16: return (uint64_t)(int64_t)atomic_load_relaxed((const int16_t *)at);
    case KIND_U16: return atomic_load_relaxed((const uint16_t *)at);
    case KIND_I32: return (uint64_t)(int64_t)atomic_load_relaxed((const int32_t *)at);
    case KIND_U32: return atomic_load_relaxed((const uint32_t *)at);
    default: return atomic_load_relaxed((const uint64_t *)at);
    }
}

/* Fills in what the wait is for: as its record says, or as a function tells. */
static void ask(const struct uccs_wait *wait, struct uccs_reason *reason)
{
    *reason = (struct uccs_reason){.on = wait->on};
    if (wait->on.about == UCCS_REASON_FUNCTION) {
        void (*tell)(const void *, struct uccs_reason *) =
            (void (*)(const void *, struct uccs_reason *))(uintptr_t)wait->on.number;
        *reason = (struct uccs_reason){0};
        tell((const void *)(uintptr_t)wait->on.object, reason);
        reason->on.may_end |= wait->on.may_end;
    } else {
        reason->value = value_of(&wait->on);
    }
}

static void begin_stay(struct uccs_wait *wait)
{
    struct uccs_reason told;
    if (atomic_load_relaxed(&uccs_pollers_there)) /* they may do anything */
        wait->on.may_end = 1;
    ask(wait, &told);
    const uint32_t stay =
        rte_wait_record_begin(&told.on, told.text, wait->since, uccs_core.heap_start, uccs_core.heap_bytes);
    if (!stay)
        return;
    wait->stay = stay;
    rte_wait_record_looked(stay, told.value);
}

/* What a function has told may change while the wait goes on. */
static void renew_stay(const struct uccs_wait *wait)
{
    struct uccs_reason told;
    ask(wait, &told);
    if (wait->on.about == UCCS_REASON_FUNCTION)
        rte_wait_record_renew(wait->stay, &told.on, told.text);
    rte_wait_record_looked(wait->stay, told.value);
}

#define LOOKS_A_RENEWAL 64 /* at one look in this many a function is asked again, and the launcher looked for */
#define LASTS 1000000      /* nanoseconds: the end of a longer wait is told to the progress thread */

static bool has_record(const struct uccs_wait *wait)
{
    return wait->stay && wait->stay != UCCS_WAIT_IS_LONG;
}

static void look_again(const struct uccs_wait *wait)
{
    static _Thread_local uint32_t looks;
    const bool renewal = ++looks % LOOKS_A_RENEWAL == 0;
    if (renewal) {
        rte_launcher_check();
        rte_look_for_exit(clock_nanoseconds() - wait->since);
    }
    if (wait->on.about != UCCS_REASON_FUNCTION || renewal)
        renew_stay(wait);
}

static void look_at_clock(struct uccs_wait *wait)
{
    const uint64_t time = clock_nanoseconds() - wait->since;
    if (time > LASTS && !wait->stay)
        wait->stay = UCCS_WAIT_IS_LONG;
    if (time > RTE_WAIT_RECORD_AFTER)
        begin_stay(wait);
}

lat_cold void uccs_wait_record(struct uccs_wait *wait)
{
    if (!wait->since)
        wait->since = clock_nanoseconds();
    else if (has_record(wait))
        look_again(wait);
    else
        look_at_clock(wait);
}

/* The progress thread, if there is one, has got used to a program that polls. This one probably goes on to compute. */
lat_cold void uccs_wait_record_end(struct uccs_wait *wait)
{
    if (has_record(wait))
        rte_wait_record_end(wait->stay);
    wait->stay = 0;
    if (uccs_progress_thread_on && !uccs_progress_thread_me)
        uccs_doorbell_ring_mine();
}
