/* A futex barrier in the node's head, where the PEs of a node meet at start and end. Waiting PEs sleep. */
#include "base/clock.h"
#include "base/futex.h"
#include "rte/rte.h"
#include "rte/wait_record.h"

/* Sleeps for a short time at first, then leaves a record for those who ask why the job hangs. Returns false when `end`
 * has passed while the round is still `seen`. */
static bool sleep_and_tell(struct node *node, uint32_t seen, const struct timespec *end)
{
    struct node_wait_reason on = {.about = node->scattered ? NODE_REASON_NOTHING : NODE_REASON_PES,
                                  .start = (int32_t)node->first,
                                  .stride = 1,
                                  .size = (int32_t)node->size,
                                  .object = NODE_NO_TEAM,
                                  .number = seen};
    uint64_t since = clock_nanoseconds();
    struct timespec soon = {.tv_sec = (time_t)((since + RTE_WAIT_RECORD_AFTER) / 1000000000),
                            .tv_nsec = (long)((since + RTE_WAIT_RECORD_AFTER) % 1000000000)};
    if (futex_sleep(&node->round, seen, &soon) != ETIMEDOUT)
        return true;
    uint32_t record = rte_wait_record_begin(&on, 0, since, 0, 0);
    bool in_time = futex_sleep(&node->round, seen, end) != ETIMEDOUT;
    if (record)
        rte_wait_record_end(record);
    return in_time;
}

/* Takes this PE's arrival back, so that no PE passes after this one gives up. Returns false when the last PE has
 * arrived meanwhile: the round is then over for this PE too. The round stays open only because this PE is missing from
 * the count, so this takes back no other PE's arrival. */
static bool barrier_withdraw(struct node *node, uint32_t round)
{
    uint64_t seen = atomic_load_relaxed(&node->arrived);
    while (seen >> 32 == round && (uint32_t)seen < node->size)
        if (atomic_cas_acqrel(&node->arrived, &seen, seen - 1)) /* partner: the add in barrier_meet */
            return true;
    return false;
}

/* Returns false when not all PEs came before `end` (null: no limit), or a PE cannot start; then no PE that came in time has passed. The last
 * to arrive opens the count of the next round before it opens the round itself (release), so a PE that comes back at
 * once (acquire of round) counts from zero. */
static bool barrier_meet(void (*last)(void *), void *argument, const struct timespec *end)
{
    struct node *node = rte.node;
    uint32_t round = atomic_load_acquire(&node->round);
    if (atomic_load_acquire(&node->broken)) /* release: rte_break_start */
        return false;
    if ((uint32_t)atomic_fetch_add_acqrel(&node->arrived, 1) + 1 == node->size) {
        if (last)
            last(argument);
        atomic_store_relaxed(&node->arrived, (uint64_t)(round + 1) << 32);
        atomic_store_release(&node->round, round + 1);
        futex_wake(&node->round, INT_MAX);
        return true;
    }
    while (atomic_load_acquire(&node->round) == round) /* after a signal or a spurious wake-up, look again */
        if (!sleep_and_tell(node, round, end)) {
            if (barrier_withdraw(node, round))
                return false;
            end = 0;
        }
    return !atomic_load_acquire(&node->broken);
}

bool rte_node_barrier(void)
{
    return barrier_meet(0, 0, 0);
}

bool rte_node_barrier_last(void (*last)(void *), void *argument)
{
    return barrier_meet(last, argument, 0);
}

/* The round is over, so whoever waits in it comes back, and sees why. */
bool rte_break_start(void)
{
    if (!rte.node)
        return true;
    const bool first = atomic_exchange_acqrel(&rte.node->broken, 1) == 0; /* acquire: barrier_meet */
    atomic_fetch_add_acqrel(&rte.node->round, 1);
    futex_wake(&rte.node->round, INT_MAX);
    return first;
}

bool rte_node_barrier_within(int seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    return barrier_meet(0, 0, &end);
}
