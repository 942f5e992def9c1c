/* The life of the links at its edges: the largest job, what the end waits for and under which locks, and that it ends the lanes that there
 * are and nothing behind them. The lanes are made up. */
#include "uccs/link/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/core/poll.h"
#include "uccs/core/progress.h"
#include "uccs/core/reach.h"
#include "uccs/object/tell.h"

#include "unit/check.h"

#include <string.h>
#include <sys/resource.h>

/* --- What open.c calls */

static struct link_lane lanes_there[LINK_LANES + 1]; /* the last one is behind them */
static struct link_lane *held;                       /* whose lock is held */
static unsigned locked, pools, yields, pushes, lanes_freed, directs, looks;
static unsigned busy; /* pushes, messages under way, boxes: so often the lane is not drained yet */
static struct link_outbox box;

static int take(pthread_mutex_t *lock)
{
    CHECK(!held);
    for (int i = 0; i <= LINK_LANES; i++)
        if (lock == &lanes_there[i].lock)
            held = &lanes_there[i];
    CHECK(held && held != &lanes_there[LINK_LANES]);
    locked++;
    return 0;
}

static int give(pthread_mutex_t *lock)
{
    CHECK(held && lock == &held->lock);
    held = 0;
    return 0;
}

static void push(struct link_lane *lane)
{
    CHECK(lane == held);
    pushes++;
    if (lane->boxes == &box)
        lane->boxes = 0; /* they leave */
    else if (lane->sending)
        lane->sending--;
}

static int is_drained(void *at)
{
    CHECK(held && at == held->at && ++looks < 100);
    busy -= busy > 0;
    return busy == 0;
}

static uint64_t yield(void)
{
    CHECK(!held);
    yields++;
    return 0;
}

static void free_lane(const struct link_lane *lane)
{
    CHECK(lane < &lanes_there[LINK_LANES] && !lane->at);
    lanes_freed++;
}

static void free_direct(const struct link_peer *peer)
{
    CHECK(peer->lane != &lanes_there[LINK_LANES]);
    directs++;
}

static void end(void) {}

static const char *open_network(const struct transport_events *events, int pe, int pes, unsigned wire)
{
    (void)events, (void)wire;
    CHECK(pe == uccs_core.me && pes == uccs_core.npes);
    return 0;
}

static const struct transport network = {.name = "stub", .open = open_network, .drained = is_drained, .close = end};

static const struct transport *load(void)
{
    return &network;
}

#define link_lanes lanes_there
#define pthread_mutex_lock take
#define pthread_mutex_unlock give
#define link_batch_push_all push
#define uccs_yield(wait) ((void)(wait), yield())
#define link_lane_free free_lane
#define link_direct_free free_direct
#define link_key_close() ((void)0)
#define link_pool_open() ((void)pools++)
#define link_pool_close() ((void)0)
#define link_lanes_open() ((UINT64_C(1) << 63) | 1)
#define link_lane_open(number) ((void)(number), (const char *)0)
#define link_network_load load
#define link_names_publish() 0
#define link_handle(kind, handler) ((void)(handler))
#define link_thread_prepare() ((void)0)
#define uccs_core_poll_add(poll, when) ((void)(poll))
#define uccs_core_poll_remove(poll) ((void)(poll))
#define uccs_teller_add(teller) ((void)(teller))
#define uccs_progress_open_anyway() 0
#define uccs_far_quiet_all() ((void)0)
#define uccs_reach_close(leave) ((void)(leave))
#define watch_line_rest() ((void)0)
#define watch_line_close() ((void)0)
#define rte_job_barrier() ((void)0)
#define getrlimit(what, limit) ((void)(limit), -1)
#define env_flag(which) 0
#define env_text(which) "messages"
#define log_line(...) ((void)0)
#include "uccs/link/open.c"

static void largest_job(void)
{
    uccs_core = (struct uccs_core){.pes = 1, .npes = LINK_PES, .spin = LOOKS_MOST + 1};
    CHECK(link_open() == 0 && pools == 1 && uccs_core.spin == LOOKS_MOST && uccs_far_on == 1);
    uccs_far_on = 0;
    uccs_core.npes++;
    CHECK(link_open() == -1 && pools == 1 && uccs_far_on == 0);
}

static void begin(void)
{
    for (int i = 0; i <= LINK_LANES; i++)
        lanes_there[i] = (struct link_lane){.number = (uint32_t)i, .at = &lanes_there[i]};
    link_transport = &network;
    uccs_core = (struct uccs_core){.pes = 1, .npes = 3};
    uccs_far_on = 1;
    locked = yields = pushes = lanes_freed = directs = looks = busy = 0;
}

/* Batches leave, and until they and all that the network holds have left, others get the core. */
static void settles(void)
{
    begin();
    link_settle_all();
    CHECK(locked == 2 && pushes == 2 && yields == 0 && !held);
    begin();
    lanes_there[63].boxes = &box; /* pushed before the look */
    link_settle_all();
    CHECK(pushes == 2 && yields == 0 && !lanes_there[63].boxes);
    begin();
    lanes_there[0].sending = 3;
    link_settle_all();
    CHECK(pushes == 4 && yields == 2 && lanes_there[0].sending == 0);
    begin();
    busy = 4; /* the network's messages */
    link_settle_all();
    CHECK(yields == 3 && pushes == 5 && locked == 5 && !held);
    begin();
    uccs_far_on = 0;
    link_settle_all();
    CHECK(locked == 0);
}

static void closes(void)
{
    struct link_peer first = {.lane = &lanes_there[0]}, last = {.lane = &lanes_there[63]},
                     behind = {.lane = &lanes_there[LINK_LANES]};
    struct link_peer *peers[4] = {&first, 0, &first, &behind}, *others[4] = {0, 0, &last, &behind},
                     *none[4] = {&behind, &behind, &behind, &behind};
    begin();
    lanes_there[0].peers = peers;
    lanes_there[63].peers = others;
    lanes_there[LINK_LANES].peers = none;
    link_has_direct = link_maps = true;
    link_close();
    CHECK(locked == LINK_LANES && !held && lanes_freed == LINK_LANES && directs == 3);
    for (int i = 0; i <= LINK_LANES; i++)
        CHECK((lanes_there[i].at != 0) == (i == LINK_LANES));
    CHECK(uccs_far_on == 0 && uccs_far_touched == 0 && !link_has_direct && !link_maps);
    link_close();
    CHECK(locked == LINK_LANES);
}

int main(void)
{
    largest_job();
    settles();
    closes();
    return 0;
}
