/* What the progress thread does for the links, one look at a time, among made-up neighbours: what it handles under the service lane's
 * lock and in which order, what it leaves to threads of the program, when it looks again, and which other lanes it sends. */
#include "parts/owned.h"

#include "uccs/core/progress.h"
#include "uccs/link/news.h"

#include <errno.h>

/* --- What thread.c calls, in the order of the calls */

struct link_lane link_lanes[LINK_LANES];
uint64_t link_left;
uint32_t link_asleep, link_reminded;
_Thread_local const struct link_lane *link_led_here;

static char calls[80]; /* a letter for each */
static int comes[8];   /* what the looks find, ending with 0 */
static int looks;
static bool arms;
static uint64_t left_meanwhile;  /* lanes that the program leaves while the thread arms */
static uint64_t clears, unclear; /* lanes: that were sent; that stay unsent */
static struct uccs_server *added;

static void note(char call)
{
    const size_t bytes = strlen(calls);
    CHECK(bytes + 1 < sizeof calls);
    calls[bytes] = call;
}

static int test_progress(void *at)
{
    CHECK(at == &comes && owned_held == 1 && looks < 8);
    note('p');
    return comes[looks++];
}

static int test_arm(void *at)
{
    CHECK(at == &comes && owned_held == 1 && looks > 0 && comes[looks - 1] == 0); /* nothing is left to come */
    note('a');
    link_left |= left_meanwhile;
    return arms;
}

static int test_descriptor(void *at)
{
    CHECK(at == &comes);
    return 55;
}

static const struct transport transport = {.progress = test_progress, .arm = test_arm, .descriptor = test_descriptor};
const struct transport *link_transport = &transport;

struct link_lane *link_service(void)
{
    return &link_lanes[0];
}

void link_nudge(struct link_lane *lane)
{
    CHECK(lane == &link_lanes[0] && owned_held == 1);
    note('n');
}

void link_land_wanted(struct link_lane *lane)
{
    CHECK(lane == &link_lanes[0] && owned_held == 1);
    note('l');
}

void link_batch_push_all(struct link_lane *lane)
{
    CHECK(lane == &link_lanes[0] && owned_held == 1);
    note('b');
}

void link_news_tell(struct link_lane *lane)
{
    CHECK(lane == &link_lanes[0] && owned_held == 1 && comes[looks - 1] == 0);
    note('t');
    lane->told = 1;
}

void link_news_wake(struct link_lane *lane, int most)
{
    CHECK(lane == &link_lanes[0] && owned_held == 0 && most == INT_MAX);
    note('w');
}

bool link_poll_clear(struct link_lane *lane)
{
    CHECK(owned_held == 0 && lane == &link_lanes[lane - link_lanes] && lane != link_lanes);
    const uint64_t bit = UINT64_C(1) << (lane - link_lanes);
    CHECK(!(clears & bit));
    clears |= bit;
    return !(unclear & bit);
}

void watch_line_look(void)
{
    note('L');
}

int watch_line_descriptor(void)
{
    return 66;
}

void uccs_progress_add(struct uccs_server *server)
{
    CHECK(!link_asleep && !link_reminded && !link_left); /* nothing is left of an earlier life */
    added = server;
}

static bool taken; /* another thread holds the service lane */

static int test_trylock(pthread_mutex_t *lock)
{
    CHECK(lock == &link_lanes[0].lock && owned_held == 0);
    return taken ? EBUSY : pthread_mutex_lock(lock);
}

#define pthread_mutex_trylock test_trylock
#include "uccs/link/thread.c"

static void begin(void)
{
    memset(calls, 0, sizeof calls);
    memset(comes, 0, sizeof comes);
    looks = 0;
    clears = unclear = left_meanwhile = 0;
    taken = false;
    arms = true;
    link_left = 0;
    link_reminded = 0;
    link_asleep = 7;
    link_lanes[0] = (struct link_lane){.lock = PTHREAD_MUTEX_INITIALIZER, .at = &comes, .polls = 0x54321};
}

static void prepares(void)
{
    begin();
    link_asleep = link_reminded = 1;
    link_left = 1;
    server.descriptor = server.alarm = -1;
    link_thread_prepare();
    CHECK(added == &server && added->descriptor == 55 && added->alarm == 66 && !added->rung);
    CHECK(added->serve == serve && added->tend == send_left && added->alarmed == watch_line_look);
    CHECK(added->polls() == 0x54321);
}

/* Nothing to do: it asks to be woken, and sleeps. */
static void rests(void)
{
    begin();
    CHECK(serve() == UCCS_SERVED_NOTHING && strcmp(calls, "lbpa") == 0 && link_asleep == 1 && owned_held == 0);
    CHECK(clears == 0 && link_lanes[0].told == 0);
    begin();
    left_meanwhile = 4;
    CHECK(serve() == UCCS_SERVED_LATER && link_asleep == 1 && clears == 0 && link_left == 4);
}

/* It handles all that has come, tells of it once, and does not say that it sleeps while it is not armed. */
static void serves(void)
{
    begin();
    comes[0] = 2, comes[1] = 1;
    link_lanes[0].sleepers = 1;
    CHECK(serve() == UCCS_SERVED_SOME && strcmp(calls, "lbpbpbptaw") == 0 && link_asleep == 1 && owned_held == 0);
    begin();
    link_lanes[0].hung = (struct link_peer *)1;
    CHECK(serve() == UCCS_SERVED_NOTHING && strcmp(calls, "nlbpa") == 0);
    begin();
    arms = false;
    left_meanwhile = 4;
    CHECK(serve() == UCCS_SERVED_SOME && link_asleep == 0 && strcmp(calls, "lbpa") == 0);
    begin();
    link_lanes[0].boxes = (struct link_outbox *)1; /* what waits to leave must not wait for the thread's sleep */
    CHECK(serve() == UCCS_SERVED_SOME && link_asleep == 0 && strcmp(calls, "lbp") == 0);
}

/* What a thread of the program has just left may leave with its next messages. */
static void waits(void)
{
    begin();
    link_reminded = 1;
    link_left = 2;
    CHECK(serve() == UCCS_SERVED_LATER && link_reminded == 0 && link_left == 2 && clears == 0 && !calls[0]);
    CHECK(link_asleep == 7);
    taken = true;
    CHECK(serve() == UCCS_SERVED_SOON && link_left == 0 && clears == 2 && !calls[0] && link_asleep == 7);
    CHECK(owned_held == 0);
}

static void sends(void)
{
    begin();
    link_left = UINT64_C(1) << 63 | UINT64_C(1) << 33 | UINT64_C(1) << 32 | 6;
    unclear = UINT64_C(1) << 33 | UINT64_C(1) << 63 | 4;
    added->tend();
    CHECK(clears == (UINT64_C(1) << 63 | UINT64_C(1) << 33 | UINT64_C(1) << 32 | 6) && link_left == unclear);
    CHECK(!calls[0]);
    clears = unclear = 0;
    added->tend();
    CHECK(clears == (UINT64_C(1) << 63 | UINT64_C(1) << 33 | 4) && link_left == 0);
    clears = 0;
    added->tend();
    CHECK(clears == 0 && link_left == 0);
}

int main(void)
{
    prepares();
    rests();
    serves();
    waits();
    sends();
    return 0;
}
