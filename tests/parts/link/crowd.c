/* The crowd of threads that wait on a lane, by made-up sleeps: who looks, who leads, who sleeps and for how long, whom the leader and
 * those who go wake, and what the counters say while somebody sleeps and afterwards. */
#include "parts/owned.h"

#include "base/futex.h"
#include "uccs/core/bell.h"
#include "uccs/core/poller.h"
#include "uccs/link/crowd.h"

#include <sched.h>

uint32_t link_waiting, link_cores = 2, uccs_pollers_there;
_Thread_local bool uccs_progress_me;
_Thread_local int uccs_pollers_barred;
struct uccs_core uccs_core;

/* --- What crowd.c and news.c call */

static struct link_lane lane, other;
static struct link_member member;
static struct uccs_wait member_wait;

static uint32_t looks, yields, stays,
    served; /* so often a look, sched_yield, uccs_stay, a call of the program's pollers */
static int poller_finds;
static uint32_t slept, woke; /* calls */
static int sleep_ends, woken, most_woken, roused_meanwhile;
static long longest;
static uint32_t sleeps_on;                      /* the news that the sleeper has seen */
static uint32_t sleepers_then, sleeping_then;   /* while a thread sleeps */
static uint32_t news_then, told_then, led_then; /* while others are woken */
static bool looks_at_led;                       /* the last look was one of the lane's leader */
static uint32_t looks_when_yielded;

static int test_sleep(const uint32_t *word, uint32_t seen, long nanoseconds);
static int test_wake(const uint32_t *word, int most);

static int test_yield(void)
{
    looks_when_yielded = looks;
    yields++;
    return 0;
}

void link_count_waiting(int change)
{
    link_waiting += (uint32_t)change;
}

void link_pause(struct link_lane *at, struct uccs_wait *wait)
{
    CHECK(at == &lane && wait == &member_wait && owned_held == 0);
    looks_at_led = link_led_here == at;
    looks++;
}

void uccs_stay(struct uccs_wait *wait)
{
    CHECK(wait == &member_wait);
    stays++;
}

int uccs_pollers_slow(void)
{
    served++;
    return poller_finds;
}

#define futex_sleep_here test_sleep
#define futex_wake_here test_wake
#define sched_yield test_yield
#include "uccs/link/crowd.c"
#include "uccs/link/news.c"

static int test_sleep(const uint32_t *word, uint32_t seen, long nanoseconds)
{
    CHECK(word == &lane.news && owned_held == 0);
    slept++;
    sleeps_on = seen;
    longest = nanoseconds;
    sleepers_then = lane.sleepers;
    sleeping_then = sleeping;
    if (sleep_ends == 0) /* who wakes somebody counts */
        lane.sleepers--, lane.roused++;
    return sleep_ends;
}

static int test_wake(const uint32_t *word, int most)
{
    CHECK(word == &lane.news && owned_held == 0);
    woke++;
    most_woken = most;
    roused_meanwhile = lane.roused;
    news_then = lane.news;
    told_then = lane.told;
    led_then = lane.led;
    return woken;
}

enum { NEWS = 0x7000a };

/* A lane whose news have this number, and nothing noted. */
static void begin(void)
{
    lane = (struct link_lane){.lock = PTHREAD_MUTEX_INITIALIZER, .news = NEWS};
    link_led_here = NULL;
    link_waiting = looks = yields = stays = served = slept = woke = sleeping = uccs_pollers_there = 0;
    sleep_ends = woken = poller_finds = 0;
    uccs_progress_me = looks_at_led = false;
}

/* --- News */

static void crowds(void)
{
    static const struct {
        uint32_t waiting, asleep;
        bool crowd, awake;
    } rows[] = {{0, 0, false, false}, {2, 0, false, false}, {3, 0, true, true},
                {3, 1, true, false},  {4, 1, true, true},   {2, 2, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        link_waiting = rows[i].waiting;
        sleeping = rows[i].asleep;
        CHECK(link_is_crowd() == rows[i].crowd && link_is_crowd_awake() == rows[i].awake);
    }
}

static void tells(void)
{
    begin();
    link_news_tell(&lane);
    CHECK(lane.news == NEWS + 1 && lane.told == 1 && woke == 0);
    lane.news = UINT32_MAX;
    link_news_tell(&lane);
    CHECK(lane.news == 0);
}

/* So many are likely to be roused that it counts them before they run, and mends the count by what was true. */
static void wakes(void)
{
    static const struct {
        uint32_t sleepers;
        int most, woken, likely;
    } rows[] = {{3, 2, 2, 2},
                {3, 2, 1, 2},
                {2, 3, 2, 2},
                {3, 3, 3, 3},
                {1, INT_MAX, 1, 1},
                {1, INT_MAX, 0, 1},
                {0, 1, 0, 0},
                {70000, 68000, 67000, 68000},
                {70000, INT_MAX, 70000, 70000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        lane.sleepers = rows[i].sleepers;
        lane.roused = 5;
        woken = rows[i].woken;
        link_news_wake(&lane, rows[i].most);
        CHECK(woke == 1 && most_woken == rows[i].most && roused_meanwhile == 5 + rows[i].likely);
        CHECK(lane.roused == 5 + rows[i].woken && lane.sleepers == rows[i].sleepers - (uint32_t)rows[i].woken);
        CHECK(lane.news == NEWS);
    }
    begin();
    lane.sleepers = 3;
    woken = 1;
    link_news_wake_one(&lane);
    CHECK(woke == 1 && most_woken == 1 && news_then == NEWS + 1 && lane.news == NEWS + 1 && lane.told == 0);
    CHECK(lane.sleepers == 2 && owned_held == 0);
}

static void sleeps(void)
{
    begin();
    CHECK(link_news_await(&lane, NEWS, 7) == EAGAIN && slept == 0); /* nobody leads */
    CHECK(lane.sleepers == 0 && sleeping == 0 && lane.roused == 0);
    lane.led = 1;
    CHECK(link_news_await(&lane, NEWS, 7) == 0 && slept == 1 && sleeps_on == NEWS && longest == 7);
    CHECK(sleepers_then == 1 && sleeping_then == 1);
    CHECK(lane.sleepers == 0 && sleeping == 0 && lane.roused == 0);
    sleep_ends = ETIMEDOUT;
    lane.sleepers = 4;
    sleeping = 6;
    CHECK(link_news_await(&lane, NEWS - 1, 8) == ETIMEDOUT && slept == 2 && sleeps_on == NEWS - 1 && longest == 8);
    CHECK(sleepers_then == 5 && sleeping_then == 7 && lane.sleepers == 4 && sleeping == 6 && lane.roused == 0);
}

/* Who releases the lock wakes all, unless nothing has come, nobody sleeps, or he leads this lane and looks first. */
static void unlocks(void)
{
    static const struct {
        bool told, leads, leads_other;
        uint32_t sleepers;
        bool left, wakes; /* told is still set; somebody was woken */
    } rows[] = {{true, false, false, 2, false, true},
                {false, false, false, 2, false, false},
                {true, true, false, 2, true, false},
                {true, false, true, 2, false, true},
                {true, false, false, 0, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        lane.told = rows[i].told;
        lane.sleepers = rows[i].sleepers;
        link_led_here = rows[i].leads ? &lane : rows[i].leads_other ? &other : NULL;
        pthread_mutex_lock(&lane.lock);
        link_news_unlock(&lane);
        CHECK(owned_held == 0 && lane.told == rows[i].left && woke == rows[i].wakes);
        CHECK(!woke || (most_woken == INT_MAX && told_then == 0));
    }
}

/* --- Members */

static void join(void)
{
    memset(&member, OWNED_NOISE, sizeof member);
    link_member_begin(&member, &lane);
    CHECK(member.lane == &lane && member.seen == NEWS && !member.leads);
}

static void begins(void)
{
    begin();
    link_waiting = 1;
    join();
    CHECK(link_waiting == 2);
    link_member_pause(&member, &member_wait); /* no crowd: he looks himself */
    CHECK(looks == 1 && !looks_at_led && !member.leads && lane.led == 0);
    link_member_end(&member);
    CHECK(link_waiting == 1 && woke == 0 && lane.led == 0 && lane.news == NEWS);
}

/* The first one who waits in a crowd leads; the next one sleeps. */
static void crowd_begins(struct link_member *leader)
{
    begin();
    link_waiting = 2;
    join();
    link_member_pause(&member, &member_wait);
    CHECK(member.leads && lane.led == 1 && looks == 0 && slept == 0);
    link_member_pause(&member, &member_wait);
    CHECK(looks == 1 && looks_at_led && link_led_here == &lane && yields == 0 && slept == 0 && woke == 0);
    *leader = member;
    link_led_here = NULL; /* of another thread */
    join();
    CHECK(link_waiting == 4);
}

static void follower_sleeps(void)
{
    struct link_member leader;
    crowd_begins(&leader);
    link_member_pause(&member, &member_wait);
    CHECK(slept == 1 && sleeps_on == NEWS && longest == 50000000 && looks == 1 && !member.leads && lane.led == 1);
    CHECK(stays == 0 && served == 0);
    uccs_pollers_there = 1;
    link_member_pause(&member, &member_wait);
    CHECK(slept == 2 && longest == 1000000 && stays == 0 && served == 0); /* somebody has woken him */
    sleep_ends = EINTR;
    link_member_pause(&member, &member_wait);
    CHECK(slept == 3 && stays == 0 && served == 0);
    sleep_ends = ETIMEDOUT;
    poller_finds = 1;
    link_member_pause(&member, &member_wait);
    CHECK(slept == 4 && stays == 0 && served == 1);
    poller_finds = 0;
    link_member_pause(&member, &member_wait);
    CHECK(slept == 5 && stays == 1 && served == 2);
    uccs_pollers_there = 0;
    link_member_pause(&member, &member_wait);
    CHECK(slept == 6 && stays == 2 && served == 2 && longest == 50000000);
    lane.news = NEWS + 65536;
    link_member_pause(&member, &member_wait);
    CHECK(slept == 6 && member.seen == NEWS + 65536 && looks == 1); /* he looks at his variable */
    link_member_pause(&member, &member_wait);
    CHECK(slept == 7 && sleeps_on == NEWS + 65536);
}

/* These look although somebody leads. */
static void others_look(void)
{
    struct link_member leader;
    crowd_begins(&leader);
    uccs_progress_me = true;
    link_member_pause(&member, &member_wait);
    CHECK(looks == 2 && slept == 0 && !looks_at_led);
    lane.led = 0;
    link_member_pause(&member, &member_wait);
    CHECK(looks == 3 && lane.led == 0 && !member.leads); /* nor does the progress thread lead */
    uccs_progress_me = false;
    lane.led = 1;
    link_led_here = &other; /* he waits within a poller, while this thread leads another wait */
    link_member_pause(&member, &member_wait);
    CHECK(looks == 4 && slept == 0 && link_led_here == &other);
    link_led_here = NULL;
    link_member_pause(&member, &member_wait);
    CHECK(looks == 4 && slept == 1);
}

static void leader_tells(void)
{
    struct link_member follower, leader;
    crowd_begins(&leader);
    follower = member;
    member = leader;
    link_waiting = 0; /* a leader leads on when the crowd is gone */
    lane.sleepers = 2;
    lane.told = 1;
    lane.roused = 0;
    woken = 0;
    link_led_here = &lane;
    link_member_pause(&member, &member_wait);
    CHECK(woke == 1 && most_woken == INT_MAX && lane.told == 0 && looks == 2 && looks_at_led && link_led_here == &lane);
    CHECK(lane.news == NEWS && yields == 0 && owned_held == 0);
    lane.roused = 1;
    link_member_pause(&member, &member_wait);
    CHECK(woke == 1 && yields == 1 && looks_when_yielded == 2 && looks == 3); /* those who are woken run first */
    lane.roused = -1;
    link_member_pause(&member, &member_wait);
    CHECK(yields == 1 && looks == 4);
    CHECK(!follower.leads);
}

static void leader_goes(void)
{
    for (int told = 0; told < 2; told++)
        for (uint32_t asleep = 0; asleep < 3; asleep += 2) {
            struct link_member leader;
            crowd_begins(&leader);
            lane.sleepers = asleep;
            lane.told = (uint32_t)told;
            link_led_here = &lane;
            woken = told && asleep ? 2 : 1;
            link_member_end(&leader);
            CHECK(link_waiting == 3 && lane.led == 0 && link_led_here == NULL && lane.told == 0);
            CHECK(woke == (asleep ? 1 : 0) && (!asleep || led_then == 0));
            CHECK(!asleep || most_woken == (told ? INT_MAX : 1)); /* who is woken alone leads */
            CHECK(lane.news == (uint32_t)(!told && asleep ? NEWS + 1 : NEWS));
        }
}

static void follower_goes(void)
{
    struct link_member leader;
    crowd_begins(&leader);
    lane.sleepers = 1;
    woken = 1;
    lane.told = 1;
    link_led_here = &other;
    link_member_end(&member);
    CHECK(woke == 0 && lane.led == 1 && lane.told == 1 && link_waiting == 3 && link_led_here == &other);
    lane.led = 0; /* the leader has gone, and did not see the sleeper */
    link_member_end(&member);
    CHECK(woke == 1 && most_woken == 1 && lane.news == NEWS + 1);
    link_member_end(&member);
    CHECK(woke == 1 && lane.sleepers == 0);
}

int main(void)
{
    crowds();
    tells();
    wakes();
    sleeps();
    unlocks();
    begins();
    follower_sleeps();
    others_look();
    leader_tells();
    leader_goes();
    follower_goes();
    return 0;
}
