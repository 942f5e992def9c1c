/* Chooses the lanes on which a context issues. Any thread.
 *
 * The pool opens a lane when it is first needed and keeps it open until the end of the life, so that a context made and
 * destroyed in a loop costs no connections. A context of one lane takes the least used lane, counting from the last one
 * down; the threads of a context that spreads take lanes by their number, counting from the first one up. So the two
 * kinds keep apart while there are enough lanes.
 *
 * Invariants: a thread's lane of a context that spreads never changes, so that a later call finds the thread's
 * operations there. When a lane cannot be opened, the service lane takes its place for the rest of the life. */
#include "uccs/link/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "uccs/core/thread.h"

#include <sched.h>

_Static_assert(LINK_LANES == 64, "a bit for each in struct uccs_far_lanes");

static uint32_t limit;                     /* number of lanes that this process may have, with the service lane */
static struct link_lane *made[LINK_LANES]; /* release. Null: not opened yet; the service lane: could not be opened */
static uint32_t users[LINK_LANES];         /* number of contexts on the lane; under `pool` */
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
uint32_t link_others;

static uint32_t cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

void link_pool_open(void)
{
    const int64_t wanted = env_number(ENV_LANES);
    uccs_waiting_cores = cores();
    const int64_t lanes = wanted > 0 ? wanted : (int64_t)uccs_waiting_cores + 1;
    limit = (uint32_t)(lanes < LINK_LANES ? lanes : LINK_LANES);
    made[0] = link_service();
}

void link_pool_close(void)
{
    for (int i = 0; i < LINK_LANES; i++) {
        made[i] = 0;
        users[i] = 0;
    }
    link_others = 0;
}

/* Under `pool`. */
static struct link_lane *open_worker(uint32_t number)
{
    struct link_lane *lane = atomic_load_relaxed(&made[number]);
    if (lane)
        return lane;
    const char *why = link_lane_open(number);
    if (why)
        log_debug("no lane %u over %s: %s", number, link_transport->name, why);
    else
        atomic_store_release(&link_others, number > link_others ? number : link_others); /* acquire: link_next_busy */
    lane = why ? link_service() : &link_lanes[number];
    atomic_store_release(&made[number], lane); /* acquire: link_lane_of, link_next_busy */
    return lane;
}

static uint32_t least_used(void)
{
    uint32_t best = limit - 1;
    for (uint32_t number = limit - 1; number > 0; number--)
        if (users[number] < users[best])
            best = number;
    return best;
}

lat_cold static struct link_lane *take_lane(struct uccs_far_lanes *on)
{
    pthread_mutex_lock(&pool);
    struct link_lane *lane = on->own;
    if (!lane) {
        lane = open_worker(least_used());
        users[lane->number]++;
        on->used = UINT64_C(1) << lane->number;
        atomic_store_release(&on->own, lane); /* acquire: link_lane_of */
    }
    pthread_mutex_unlock(&pool);
    return lane;
}

/* Adds a lane to a context. Operations on it must stay behind operations that a fence has ordered on the other lanes:
 * either the fence sees this lane, or this thread sees the fence (both sequentially consistent). */
lat_cold static struct link_lane *join_lane(struct uccs_far_lanes *on, uint32_t number)
{
    pthread_mutex_lock(&pool);
    struct link_lane *lane = open_worker(number);
    const uint64_t bit = UINT64_C(1) << lane->number;
    users[lane->number] += !(on->used & bit);
    uint64_t before = atomic_fetch_or_seqcst(&on->used, bit);
    pthread_mutex_unlock(&pool);
    if (atomic_load_seqcst(&on->fenced))
        link_quiet(before & ~bit, 0, 0);
    return lane;
}

static uint32_t number_of_thread(void)
{
    return limit > 1 ? 1 + uccs_thread() % (limit - 1) : 0;
}

struct link_lane *link_lane_of(struct uccs_far_lanes *on)
{
    if (!on)
        return link_service();
    if (!on->spread) {
        struct link_lane *own = atomic_load_acquire(&on->own);
        return lat_likely(own != 0) ? own : take_lane(on);
    }
    uint32_t number = number_of_thread();
    struct link_lane *lane = atomic_load_acquire(&made[number]);
    if (lat_unlikely(!lane || !(atomic_load_relaxed(&on->used) >> lane->number & 1)))
        return join_lane(on, number);
    return lane;
}

uint64_t link_lanes_of(struct uccs_far_lanes *on)
{
    return on ? atomic_load_seqcst(&on->used) : 1;
}

/* Returns the open lanes with unanswered operations in turns. */
struct link_lane *link_next_busy(void)
{
    static _Thread_local uint32_t turn;
    uint32_t others = atomic_load_acquire(&link_others); /* the highest number */
    for (uint32_t i = 0; i < others; i++) {
        struct link_lane *lane = atomic_load_acquire(&made[1 + turn++ % others]);
        if (lane && lane != link_service() && atomic_load_relaxed(&lane->some))
            return lane;
    }
    return 0;
}

uint64_t link_lanes_open(void)
{
    uint64_t open = 1;
    for (uint32_t number = 1; number <= atomic_load_acquire(&link_others); number++)
        if (atomic_load_acquire(&made[number]) == &link_lanes[number])
            open |= UINT64_C(1) << number;
    return open;
}

void link_pool_leave(uint64_t lanes)
{
    pthread_mutex_lock(&pool);
    for (; lanes; lanes &= lanes - 1)
        users[__builtin_ctzll(lanes)]--;
    pthread_mutex_unlock(&pool);
}
