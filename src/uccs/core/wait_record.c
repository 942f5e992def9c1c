#include "uccs/core/wait_record.h"

#include "base/clock.h"
#include "base/kind.h"
#include "base/log.h"
#include "rte/rte.h"
#include "rte/wait_record.h"
#include "uccs/core/doorbell.h"
#include "uccs/core/progress.h"

/* --- The reason */

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

static struct uccs_reason reason_now(const struct uccs_wait *wait)
{
    struct uccs_reason reason = {.on = wait->on};
    if (wait->on.about != UCCS_REASON_FUNCTION) {
        reason.value = value_of(&wait->on);
        return reason;
    }
    void (*fill)(const void *, struct uccs_reason *) =
        (void (*)(const void *, struct uccs_reason *))(uintptr_t)wait->on.number;
    reason = (struct uccs_reason){0};
    fill((const void *)(uintptr_t)wait->on.object, &reason);
    reason.on.may_end |= wait->on.may_end;
    return reason;
}

/* --- The record */

#define LOOKS_A_RENEWAL 64 /* at one look in this many a function is called again, and the launcher looked for */
#define LONG 1000000       /* nanoseconds: the end of a longer wait wakes the progress thread */

static void begin_record(struct uccs_wait *wait)
{
    if (atomic_load_relaxed(&uccs_progress_program)) /* the program's functions may do anything */
        wait->on.may_end = 1;
    const struct uccs_reason reason = reason_now(wait);
    const uint32_t record =
        rte_wait_record_begin(&reason.on, reason.text, wait->since, uccs_core.heap_start, uccs_core.heap_bytes);
    if (!record)
        return;
    wait->record = record;
    rte_wait_record_looked(record, reason.value);
}

/* What a function fills in may change while the wait goes on. */
static void renew_record(const struct uccs_wait *wait)
{
    const struct uccs_reason reason = reason_now(wait);
    if (wait->on.about == UCCS_REASON_FUNCTION)
        rte_wait_record_renew(wait->record, &reason.on, reason.text);
    rte_wait_record_looked(wait->record, reason.value);
}

static bool has_record(const struct uccs_wait *wait)
{
    return wait->record && wait->record != UCCS_WAIT_IS_LONG;
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
        renew_record(wait);
}

static void look_at_clock(struct uccs_wait *wait)
{
    const uint64_t time = clock_nanoseconds() - wait->since;
    if (time > LONG && !wait->record)
        wait->record = UCCS_WAIT_IS_LONG;
    if (time > RTE_WAIT_RECORD_AFTER)
        begin_record(wait);
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
        rte_wait_record_end(wait->record);
    wait->record = 0;
    if (atomic_load_relaxed(&uccs_progress_thread_on) && !uccs_progress_thread_me)
        uccs_doorbell_ring_mine();
}

/* --- The line */

#define SECONDS 5       /* of a wait, before the line */
#define FIRST_LOOKS 64  /* each of the first looks reads the clock */
#define LATER_LOOKS 256 /* afterwards one look in this many reads it */

static time_t seconds_now(void)
{
    return (time_t)(clock_nanoseconds() / CLOCK_SECOND) + 1; /* never 0 */
}

bool uccs_late_now(struct uccs_late *late)
{
    if (late->told || (++late->looks > FIRST_LOOKS && late->looks % LATER_LOOKS))
        return false;
    time_t now = seconds_now();
    if (!late->since)
        late->since = now;
    late->told = now > late->since + SECONDS;
    return late->told;
}

void uccs_late_handler(uint32_t source, uint32_t id, uint32_t context)
{
    log_mistake("uccs: a message of PE %u waits for handler %u of context %u, which is not registered here, and those "
                "behind it wait too; register it",
                source, id, context);
}
