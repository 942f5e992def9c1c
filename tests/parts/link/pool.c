/* Which lanes a context issues on, among made-up lanes: how many a process has, which is used least, which a thread takes, what happens
 * when a lane cannot be opened, which lanes are busy, and who joins a context behind a fence. */
#include "parts/owned.h"

#include "base/env.h"
#include "base/log.h"
#include "uccs/core/thread.h"
#include "uccs/link/inner.h"

#include <sched.h>

/* --- What pool.c calls */

struct link_lane link_lanes[LINK_LANES];
uint32_t link_cores;
static const struct transport made_up = {.name = "made-up"};
const struct transport *link_transport = &made_up;

static int64_t wanted;           /* LATERAL_LANES */
static int cpus;                 /* of this process; 0: the kernel does not say */
static uint32_t thread;          /* the number of this thread */
static uint64_t opened, refused; /* lanes: that were opened; that cannot be */
static int opens;
static char line[200];
static uint64_t quiet_for; /* lanes of the last quiet */
static int quiets;

static int64_t test_number(enum env_id id)
{
    CHECK(id == ENV_LANES);
    return wanted;
}

static int test_affinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    CHECK(pid == 0 && bytes == sizeof *set);
    CPU_ZERO(set);
    for (int i = 0; i < cpus; i++)
        CPU_SET(3 * i, set);
    return cpus ? 0 : -1;
}

static uint32_t test_thread(void)
{
    return thread;
}

struct link_lane *link_service(void)
{
    return &link_lanes[0];
}

const char *link_lane_open(uint32_t number)
{
    CHECK(owned_held == 1 && number > 0 && number < LINK_LANES && !(opened >> number & 1));
    opens++;
    if (refused >> number & 1)
        return "no room";
    opened |= UINT64_C(1) << number;
    return NULL;
}

static bool test_quiet(uint64_t lanes, const int *pes, size_t npes)
{
    CHECK(!pes && !npes && owned_held == 0); /* a quiet takes time */
    quiet_for = lanes;
    quiets++;
    return true;
}

static void __attribute__((format(printf, 1, 2))) test_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
}

#define env_number test_number
#define sched_getaffinity test_affinity
#define uccs_thread test_thread
#define link_quiet test_quiet
#undef log_debug
#define log_debug test_log
#include "uccs/link/pool.c"

/* --- Opening */

static void open_pool(int64_t lanes, int of_cpus)
{
    link_pool_close();
    wanted = lanes;
    cpus = of_cpus;
    thread = 0;
    opened = refused = 0;
    opens = quiets = 0;
    line[0] = 0;
    for (uint32_t i = 0; i < LINK_LANES; i++)
        link_lanes[i] = (struct link_lane){.number = i};
    link_pool_open();
}

static void limits(void)
{
    static const struct {
        int64_t wanted;
        int cpus;
        uint32_t limit, cores;
    } rows[] = {{0, 4, 5, 4},    {0, 1, 2, 1},    {0, 0, 2, 1},    {-1, 4, 5, 4},     {1, 4, 1, 4},
                {2, 4, 2, 4},    {63, 4, 63, 4},  {64, 4, 64, 4},  {65, 4, 64, 4},    {0, 62, 63, 62},
                {0, 63, 64, 63}, {0, 64, 64, 64}, {0, 65, 64, 65}, {0, 200, 64, 200}, {INT64_C(1) << 32 | 5, 4, 64, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_pool(rows[i].wanted, rows[i].cpus);
        CHECK(limit == rows[i].limit && link_cores == rows[i].cores);
        CHECK(made[0] == link_service() && link_lanes_open() == 1);
    }
}

/* --- Contexts of one lane: the least used lane, the last one first */

static void one_lane(void)
{
    struct uccs_far_lanes on[6] = {0};
    static const uint32_t order[] = {3, 2, 1, 3, 2, 1};
    open_pool(4, 1);
    CHECK(link_lane_of(NULL) == link_service() && link_lanes_of(NULL) == 1 && link_lanes_of(&on[0]) == 0);
    for (int i = 0; i < 6; i++) {
        CHECK(link_lane_of(&on[i]) == &link_lanes[order[i]] && owned_held == 0);
        CHECK(on[i].own == &link_lanes[order[i]] && link_lanes_of(&on[i]) == UINT64_C(1) << order[i]);
        CHECK(link_lane_of(&on[i]) == &link_lanes[order[i]]); /* it keeps its lane */
    }
    CHECK(opens == 3 && opened == 0xE && link_others == 3 && link_lanes_open() == 0xF && !line[0]);
    CHECK(users[0] == 0 && users[1] == 2 && users[2] == 2 && users[3] == 2);
    link_pool_leave(UINT64_C(1) << 1 | UINT64_C(1) << 2);
    CHECK(users[1] == 1 && users[2] == 1 && users[3] == 2 && owned_held == 0);
    struct uccs_far_lanes next = {0};
    CHECK(link_lane_of(&next) == &link_lanes[2] && opens == 3);
    link_pool_leave(UINT64_C(1) << 1);
    link_pool_leave(0);
    next = (struct uccs_far_lanes){0};
    CHECK(users[1] == 0 && link_lane_of(&next) == &link_lanes[1]);
    struct uccs_far_lanes raced = {.own = &link_lanes[2]}; /* another thread has taken it meanwhile */
    CHECK(take_lane(&raced) == &link_lanes[2] && raced.used == 0 && users[2] == 2 && owned_held == 0);
}

static void service_alone(void)
{
    struct uccs_far_lanes on = {0}, spread = {.spread = 1};
    open_pool(1, 4);
    thread = 5;
    CHECK(link_lane_of(&on) == link_service() && on.used == 1 && opens == 0 && users[0] == 1);
    CHECK(link_lane_of(&spread) == link_service() && spread.used == 1 && users[0] == 2);
    CHECK(link_others == 0 && !link_next_busy() && link_lanes_open() == 1);
}

static void last_lane(void)
{
    struct uccs_far_lanes on = {0};
    open_pool(64, 1);
    CHECK(link_lane_of(&on) == &link_lanes[63] && on.used == UINT64_C(1) << 63 && users[63] == 1);
    CHECK(link_others == 63 && link_lanes_open() == (1 | UINT64_C(1) << 63));
    link_pool_leave(on.used);
    CHECK(users[63] == 0);
    link_pool_close();
    CHECK(link_others == 0 && !made[0] && !made[63]);
}

static void refusals(void)
{
    struct uccs_far_lanes on = {0}, again = {0}, spread = {.spread = 1};
    open_pool(4, 1);
    refused = 1 << 3;
    CHECK(link_lane_of(&on) == link_service() && on.used == 1 && on.own == link_service());
    CHECK(strcmp(line, "no lane 3 over made-up: no room") == 0 && opens == 1 && opened == 0 && link_others == 0);
    CHECK(users[0] == 1 && users[3] == 0 && made[3] == link_service() && owned_held == 0);
    CHECK(link_lane_of(&again) == link_service() && opens == 1); /* nobody tries again in this life */
    thread = 1;
    CHECK(link_lane_of(&spread) == &link_lanes[2] && link_others == 2 && link_lanes_open() == 5);
    thread = 2;
    CHECK(link_lane_of(&spread) == link_service() && spread.used == 5 && users[0] == 3 && opens == 2);
    CHECK(link_lane_of(&spread) == link_service() && users[0] == 3);
    link_pool_close();
    CHECK(users[0] == 0 && users[2] == 0);
}

/* --- Contexts that spread: by the number of the thread, the first lane first */

static void spreads(void)
{
    struct uccs_far_lanes on = {.spread = 1}, other = {.spread = 1};
    static const uint32_t lane_of[] = {1, 2, 3, 1, 2};
    open_pool(4, 1);
    for (thread = 0; thread < 5; thread++) {
        CHECK(link_lane_of(&on) == &link_lanes[lane_of[thread]] && owned_held == 0);
        CHECK(on.used == (thread < 2 ? (UINT64_C(4) << thread) - 2 : 0xE));
    }
    CHECK(opens == 3 && users[0] == 0 && users[1] == 1 && users[2] == 1 && users[3] == 1 && quiets == 0);
    thread = 2;
    CHECK(link_lane_of(&other) == &link_lanes[3] && other.used == 8 && users[3] == 2 && opens == 3);
    CHECK(!on.own && !other.own);
    CHECK(join_lane(&other, 3) == &link_lanes[3] && users[3] == 2); /* another thread has joined meanwhile */
}

static void spreads_wide(void)
{
    struct uccs_far_lanes on = {.spread = 1};
    open_pool(64, 1);
    thread = 62;
    CHECK(link_lane_of(&on) == &link_lanes[63] && on.used == UINT64_C(1) << 63);
    on.fenced = 1;
    thread = 61;
    CHECK(link_lane_of(&on) == &link_lanes[62] && on.used == UINT64_C(3) << 62 && quiet_for == UINT64_C(1) << 63);
    thread = 63;
    CHECK(link_lane_of(&on) == &link_lanes[1] && users[62] == 1 && users[63] == 1);
    link_pool_leave(on.used);
    CHECK(users[1] == 0 && users[62] == 0 && users[63] == 0);
}

/* Who takes a lane behind a fence waits for what is on the other lanes. */
static void fences(void)
{
    struct uccs_far_lanes on = {.spread = 1};
    open_pool(4, 1);
    thread = 0;
    link_lane_of(&on);
    thread = 1;
    link_lane_of(&on);
    CHECK(quiets == 0);
    on.fenced = 1;
    link_lane_of(&on);
    CHECK(quiets == 0); /* it was on its lane before the fence */
    thread = 2;
    CHECK(link_lane_of(&on) == &link_lanes[3] && quiets == 1 && quiet_for == 6);
    join_lane(&on, 3);
    CHECK(quiets == 2 && quiet_for == 6);
}

/* --- Busy lanes, in turns */

static void busy(void)
{
    struct uccs_far_lanes on[3] = {0};
    open_pool(5, 1);
    refused = 1 << 3;
    CHECK(!link_next_busy());
    for (int i = 0; i < 3; i++)
        link_lane_of(&on[i]); /* 4, service in place of 3, again */
    struct uccs_far_lanes spread = {.spread = 1};
    link_lane_of(&spread); /* 1 */
    CHECK(link_others == 4 && link_lanes_open() == 0x13 && !made[2]);
    for (uint32_t i = 0; i < LINK_LANES; i++)
        link_lanes[i].some = i != 1;
    for (int i = 0; i < 3; i++)
        CHECK(link_next_busy() == &link_lanes[4]);
    link_lanes[1].some = 1;
    for (int i = 0; i < 4; i++) {
        struct link_lane *first = link_next_busy(), *second = link_next_busy();
        CHECK(first != second && (first == &link_lanes[1] || first == &link_lanes[4]));
        CHECK(second == &link_lanes[1] || second == &link_lanes[4]);
    }
    link_lanes[1].some = link_lanes[4].some = 0;
    CHECK(!link_next_busy()); /* the service lane is none of them */
}

int main(void)
{
    limits();
    one_lane();
    service_alone();
    last_lane();
    refusals();
    spreads();
    spreads_wide();
    fences();
    busy();
    return 0;
}
