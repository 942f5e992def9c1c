/* Many threads that wait on one lane. While no more threads wait than there are cores, each looks at the lane itself. In a crowd
 * one thread leads, which means that it looks, and the others sleep until something has come in. If they all looked, and gave
 * their cores away by sched_yield after each look in vain, the kernel would take them for threads that can wait: beside a thread
 * that works it lets them run after some milliseconds at best, and all of them may stand still for a second.
 *
 * When something has come in, the leader wakes all sleepers. Those whose operations are complete leave, and issue the next
 * ones; then they come back and sleep. The leader gives its core to them first, so that their operations leave as one message.
 *
 * Invariants:
 * - Nobody sleeps although his operations are complete. `news` grows, under the lane's lock, after operations have completed
 *   (release); a member loads it (acquire), then looks at his own variable, and then sleeps only while it is still the same.
 *   Who lets it grow looks for sleepers after that, and a sleeper counts himself before the kernel compares (both
 *   sequentially consistent).
 * - While somebody sleeps, somebody leads, or has been woken and not looked yet. A member counts himself among the
 *   sleepers, then looks for a leader; a leader that goes gives up the lead, then looks for sleepers (both sequentially
 *   consistent), and wakes one, who finds other news and so does not sleep again at once. So does every member that goes and sees sleepers without a leader.
 *
 * The progress thread looks itself, and so does a leader who waits within a poller of the program: others depend on what they
 * serve. A sleeper looks up now and then: he records that his wait lasts, and calls the program's pollers, which may have to run on
 * his thread. */
#include "uccs/link/crowd.h"

#include "uccs/core/doorbell.h"
#include "uccs/core/poller.h"

#include <errno.h>
#include <sched.h>

#define LONG 50000000 /* nanoseconds of a sleep at most */
#define SHORT 1000000 /* the same while the program has pollers */

void link_member_begin(struct link_member *member, struct link_lane *lane)
{
    *member = (struct link_member){.lane = lane, .seen = atomic_load_acquire(&lane->news)};
    link_count_waiting(1);
}

static void sleep_on(struct link_member *member, struct uccs_wait *wait)
{
    const long most = atomic_load_relaxed(&uccs_pollers_there) ? SHORT : LONG;
    if (link_news_await(member->lane, member->seen, most) == ETIMEDOUT && !uccs_pollers())
        uccs_wait_record(wait);
}

/* The leader has looked. It wakes the others only after it has looked at its own variable, so that they do not find it leading when
 * it goes. */
static void tell_others(struct link_lane *lane)
{
    if (!atomic_load_relaxed(&lane->told))
        return;
    link_led_here = 0;
    pthread_mutex_lock(&lane->lock);
    link_news_unlock(lane);
}

static void lead(struct link_lane *lane, struct uccs_wait *wait)
{
    tell_others(lane);
    link_led_here = lane;
    if (atomic_load_relaxed(&lane->roused) > 0)
        sched_yield();
    link_pause(lane, wait);
}

lat_cold void link_member_follow(struct link_member *member, struct uccs_wait *wait)
{
    struct link_lane *lane = member->lane;
    const uint32_t news = atomic_load_acquire(&lane->news);
    if (uccs_progress_thread_me || (link_led_here && !member->leads))
        link_pause(lane, wait); /* others depend on what this thread serves */
    else if (member->leads)
        lead(lane, wait);
    else if (news != member->seen)
        member->seen = news; /* the caller looks at his variable */
    else if (!atomic_load_relaxed(&lane->led) && !atomic_exchange_seqcst(&lane->led, 1))
        member->leads = true;
    else
        sleep_on(member, wait);
}

void link_member_end(struct link_member *member)
{
    struct link_lane *lane = member->lane;
    link_count_waiting(-1);
    if (lat_unlikely(member->leads)) {
        atomic_store_seqcst(&lane->led, 0);
        tell_others(lane);
        link_led_here = 0;
    }
    if (lat_unlikely(atomic_load_seqcst(&lane->sleepers)) && !atomic_load_seqcst(&lane->led))
        link_news_wake_one(lane);
}
