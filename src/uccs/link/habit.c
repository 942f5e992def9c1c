/* Keeps small blocking puts for a moment where the program is about to call again.
 *
 * Nobody waits for a blocking put as such: the program may change its source when the call returns, and the put is complete with
 * the next quiet. Yet it leaves at once, because the program may compute next, and a peer may look at the memory. But a system call for
 * each costs most of the time of p in a loop, and of a put with its quiet. So a lane watches how its puts are followed. When so many
 * in a row were followed by another call on the lane within SOON, the lane expects that of the next ones, and copies them to the
 * outbox (batch.c). The call that follows takes them along, or sends them.
 *
 * When the lane was wrong, the progress thread sends the put with its next look, in some milliseconds. Then the lane wants twice as many, and
 * after MISSES_MOST such cases it keeps no put any more. So what a program loses by this is bounded. Without a
 * progress thread nothing is kept.
 *
 * Under the lane's lock. */
#include "uccs/link/inner.h"

#include "base/clock.h"
#include "uccs/core/doorbell.h"

#define SOON 4000 /* nanoseconds */
#define AT_FIRST UINT32_C(32)
#define MISSES_MOST 6
#define MOST (LINK_BATCH_BYTES / 2)

static bool is_put_alone(const struct link_message *message)
{
    return message->flag && message->counts && message->header.kind == LINK_PUT && message->bytes <= MOST &&
           message->header.put.what == FAR_NOTHING;
}

static void judge(struct link_habit *habit)
{
    habit->open = false;
    if (clock_nanoseconds() - habit->since <= SOON) {
        habit->good++;
        return;
    }
    habit->good = 0;
    habit->misses += habit->kept;
}

void link_habit_called(struct link_lane *lane)
{
    if (lane->habit.open)
        judge(&lane->habit);
}

bool link_habit_keeps(const struct link_lane *lane, const struct link_message *message)
{
    const struct link_habit *habit = &lane->habit;
    return habit->good >= AT_FIRST << habit->misses && habit->misses < MISSES_MOST && is_put_alone(message) &&
           uccs_progress_thread_on;
}

void link_habit_put(struct link_lane *lane, const struct link_message *message, bool kept)
{
    if (is_put_alone(message) && uccs_progress_thread_on)
        lane->habit = (struct link_habit){.since = clock_nanoseconds(),
                                          .good = lane->habit.good,
                                          .misses = lane->habit.misses,
                                          .open = true,
                                          .kept = kept};
}
