/* How a waiter for messages rests: when it looks, yields or sleeps, for how long and on which lanes, and who rings the network's bell
 * meanwhile. Clock, yields and sleeps are made up. */
#include "base/clock.h"
#include "uccs/core/bell.h"
#include "uccs/core/poller.h"
#include "uccs/link/news.h"

#include "unit/check.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* --- What rest.c calls */

bool uccs_progress_on;
_Thread_local bool uccs_progress_me;
struct uccs_core uccs_core = {.spin = 10};
struct link_lane link_lanes[LINK_LANES];
const struct transport *link_transport;

static unsigned yields, stays, sleeps_made, served, looks;
static uint64_t yield_took, now; /* nanoseconds */
static bool crowded;
static int look_finds, poller_finds;
static uint64_t looked_at;
static long shortest, asked_time; /* of the last sleep */
static uint32_t sleeps_before;    /* those of which its length was asked */
static struct pollfd files_seen[LINK_LANES];
static nfds_t files_count;
static uint64_t armed;          /* lanes, a bit each */
static uint64_t news;           /* lanes that have something already */
static int held;                /* locks */
static struct link_lane *taken; /* another thread has this one's */

static struct uccs_wait the_wait;

static int test_trylock(pthread_mutex_t *lock)
{
    if (taken && lock == &taken->lock)
        return EBUSY;
    CHECK(held == 0);
    held++;
    return 0;
}

static int test_unlock(pthread_mutex_t *lock)
{
    CHECK(held == 1 && (!taken || lock != &taken->lock));
    held--;
    return 0;
}

static uint64_t test_yield(struct uccs_wait *wait)
{
    CHECK(wait == &the_wait && held == 0);
    yields++;
    return yield_took;
}

static uint64_t test_clock(void)
{
    return now;
}

static int test_pollers(void)
{
    served++;
    return poller_finds;
}

static long test_sleep_time(long least, uint32_t before)
{
    shortest = least;
    sleeps_before = before;
    return asked_time = least + before;
}

static void test_stay(struct uccs_wait *wait)
{
    CHECK(wait == &the_wait);
    stays++;
}

static int test_ppoll(const struct pollfd *files, nfds_t count, const struct timespec *time, const void *mask)
{
    CHECK(held == 0 && !mask && time->tv_sec == 0 && time->tv_nsec == asked_time);
    memcpy(files_seen, files, count * sizeof *files);
    files_count = count;
    sleeps_made++;
    return 0;
}

bool link_is_crowd_awake(void)
{
    return crowded;
}

struct link_lane *link_service(void)
{
    return &link_lanes[0];
}

int link_look(struct link_lane *lane)
{
    looks++;
    looked_at = lane->number;
    return look_finds;
}

static int test_arm(void *at)
{
    const struct link_lane *lane = at;
    CHECK(held == 1);
    armed |= UINT64_C(1) << lane->number;
    return !(news >> lane->number & 1);
}

/* Lane 0 has the number 0, as any descriptor may. */
static int test_descriptor(void *at)
{
    CHECK(held == 1);
    return (int)((struct link_lane *)at)->number;
}

static const struct transport network = {.arm = test_arm, .descriptor = test_descriptor};

#define pthread_mutex_trylock test_trylock
#define pthread_mutex_unlock test_unlock
#define uccs_yield test_yield
#define clock_nanoseconds test_clock
#define uccs_pollers test_pollers
#define uccs_wait_sleep test_sleep_time
#define uccs_stay test_stay
#define ppoll test_ppoll
#include "uccs/link/rest.c"

static void begin(void)
{
    for (uint32_t i = 0; i < LINK_LANES; i++)
        link_lanes[i] = (struct link_lane){.lock = PTHREAD_MUTEX_INITIALIZER, .number = i, .at = &link_lanes[i]};
    link_transport = &network;
    uccs_progress_on = uccs_progress_me = crowded = false;
    the_wait = (struct uccs_wait){.looks = 0};
    yields = stays = sleeps_made = served = looks = 0;
    yield_took = 0;
    now = 1000000;
    look_finds = poller_finds = 0;
    armed = news = 0;
    sleeps = next = slept = 0;
    since = 0;
}

/* A waiter that has looked often enough. */
static void begin_tired(void)
{
    begin();
    the_wait.looks = uccs_core.spin;
}

/* --- Looks and yields */

static void looks_first(void)
{
    begin();
    for (uint32_t i = 1; i <= uccs_core.spin; i++) {
        link_rest(1, &the_wait);
        CHECK(the_wait.looks == i && yields == 0);
    }
    link_rest(1, &the_wait);
    CHECK(yields == 1 && the_wait.looks == uccs_core.spin && sleeps_made == 0);
    link_pause(&link_lanes[5], &the_wait);
    CHECK(looks == 1 && looked_at == 5 && yields == 2);
    look_finds = 1;
    link_pause(&link_lanes[6], &the_wait);
    CHECK(looks == 2 && looked_at == 6 && yields == 2); /* what it waits for may have come */
}

/* Among more waiters than cores each yields at once, and never sleeps. */
static void in_a_crowd(void)
{
    begin();
    crowded = true;
    link_rest(1, &the_wait);
    CHECK(yields == 1 && the_wait.looks == uccs_core.spin);
    the_wait.looks = uccs_core.spin + 7;
    sleeps = 5;
    link_rest(1, &the_wait);
    CHECK(yields == 2 && the_wait.looks == uccs_core.spin + 7 && sleeps == 5 && sleeps_made == 0);
    yield_took = SLOW + 1;
    link_rest(1, &the_wait);
    CHECK(yields == 3 && sleeps == 5);
}

/* A slow yield is followed by sleeps, four times as many each time, until a first yield is quick again. */
static void slow_yields(void)
{
    static const uint32_t rows[] = {16, 64, 256, 1024, 4096, 4096};
    begin_tired();
    yield_took = SLOW;
    link_rest(1, &the_wait);
    CHECK(yields == 1 && sleeps == 0);
    yield_took = SLOW + 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        slept = 3;
        link_rest(1, &the_wait);
        CHECK(yields == 2 + i && sleeps == rows[i] && next == (4 * rows[i] < 4096 ? 4 * rows[i] : 4096) && slept == 0);
        sleeps = 0;
    }
    yield_took = SLOW;
    link_rest(1, &the_wait);
    CHECK(next == 3072 && sleeps == 0);
    the_wait.looks = uccs_core.spin + 1; /* not the first yield of the wait */
    link_rest(1, &the_wait);
    CHECK(next == 3072 && sleeps == 0);
}

/* --- Sleeps */

/* Some looks go before the first sleep of a wait; who finds something in the program's own pollers does not sleep. */
static void before_sleep(void)
{
    begin_tired();
    sleeps = 20;
    slept = 9;
    link_rest(1, &the_wait);
    CHECK(the_wait.looks == uccs_core.spin + 1 && since == now && slept == 0 && sleeps_made == 0 && sleeps == 20);
    now += SPIN;
    link_rest(1, &the_wait);
    CHECK(sleeps_made == 0 && served == 0 && sleeps == 20 && since == now - SPIN);
    now++;
    poller_finds = 1;
    link_rest(1, &the_wait);
    CHECK(sleeps_made == 0 && served == 1 && sleeps == 20);
    poller_finds = 0;
    link_rest(1, &the_wait);
    CHECK(sleeps_made == 1 && served == 2 && sleeps == 19 && yields == 0);
    CHECK(the_wait.looks == uccs_core.spin + 1);
}

/* Who sleeps looks at the clock after each eighth sleep, and tries a yield when all are done. */
static void sleeps_run_out(void)
{
    begin_tired();
    the_wait.looks = uccs_core.spin + 1;
    sleeps = 17;
    for (uint32_t left = 16; left != UINT32_MAX; left--) {
        link_rest(1, &the_wait);
        CHECK(sleeps == left && sleeps_made == 17 - left && sleeps_before == 16 - left);
        CHECK(stays == 1u + (left <= 8) + (left == 0) && yields == 0);
    }
    link_rest(1, &the_wait);
    CHECK(yields == 1 && sleeps_made == 17);
}

static void sleep_once(uint64_t lanes)
{
    the_wait.looks = uccs_core.spin + 1;
    sleeps = 5;
    armed = 0;
    files_count = 99;
    const unsigned before = sleeps_made;
    link_rest(lanes, &the_wait);
    CHECK(sleeps == 4 && sleeps_made - before <= 1 && held == 0);
}

static bool sleeps_on_files(nfds_t count)
{
    for (nfds_t i = 0; i < count && i < files_count; i++)
        if (files_seen[i].events != POLLIN)
            return false;
    return files_count == count && shortest == (count ? SLEEP : NAP);
}

/* On the service lane, too, unless the progress thread is there to serve it; this thread itself is never served. */
static void which_lanes(void)
{
    const uint64_t some = UINT64_C(1) << 63 | 1 << 5;
    begin();
    for (int row = 0; row < 4; row++) {
        uccs_progress_on = row & 1;
        uccs_progress_me = row & 2;
        sleep_once(some);
        const bool mine = row != 1;
        CHECK(armed == (some | mine) && sleeps_on_files(2 + mine));
        CHECK(files_seen[0].fd == (mine ? 0 : 5) && files_seen[mine].fd == 5 && files_seen[1 + mine].fd == 63);
    }
}

/* A lane that has something, or messages that wait to leave, is looked at again at once; so is one that is closed. */
static void lanes_with_news(void)
{
    begin();
    news = 1 << 5;
    sleep_once(1 | 1 << 5 | 1 << 6);
    CHECK(armed == (1 | 1 << 5) && sleeps_made == 0);
    news = 0;
    struct link_outbox box = {0};
    link_lanes[5].boxes = &box;
    sleep_once(1 | 1 << 5);
    CHECK(armed == 1 && sleeps_made == 0);
    link_lanes[5].boxes = 0;
    link_lanes[5].at = 0;
    sleep_once(1 | 1 << 5);
    CHECK(armed == 1 && sleeps_made == 0);
    sleep_once(1 | 1 << 6);
    CHECK(armed == (1 | 1 << 6) && sleeps_made == 1 && sleeps_on_files(2));
}

/* A lane that another thread moves on needs no file; if that holds for all, the sleep is short. */
static void lanes_of_others(void)
{
    begin();
    taken = &link_lanes[0];
    the_wait.looks = uccs_core.spin + 1;
    sleeps = 5;
    link_rest(1 | 1 << 3, &the_wait);
    CHECK(armed == 1 << 3 && sleeps_made == 1 && sleeps_on_files(1) && files_seen[0].fd == 3);
    files_count = 99;
    link_rest(1, &the_wait);
    CHECK(armed == 1 << 3 && sleeps_made == 2 && sleeps_on_files(0));
    taken = 0;
}

int main(void)
{
    looks_first();
    in_a_crowd();
    slow_yields();
    before_sleep();
    sleeps_run_out();
    which_lanes();
    lanes_with_news();
    lanes_of_others();
    return 0;
}
