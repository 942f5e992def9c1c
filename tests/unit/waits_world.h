/* What waits and tests stand on, made up for waits.c: a clock, yields and sleeps that only count, pollers, and records of waits. */
#ifndef TESTS_UNIT_WAITS_WORLD_H
#define TESTS_UNIT_WAITS_WORLD_H

#include "base/clock.h"
#include "base/env.h"
#include "base/kind.h"
#include "base/log.h"
#include "rte/rte.h"
#include "rte/stay.h"
#include "uccs/core/bell.h"
#include "uccs/core/late.h"
#include "uccs/core/look.h"
#include "uccs/core/miss.h"
#include "uccs/core/poll.h"
#include "uccs/core/poller.h"
#include "uccs/core/wait.h"

#include "unit/check.h"

#include <sched.h>
#include <time.h>

struct uccs_core uccs_core;
uint32_t uccs_due, uccs_due_endless, uccs_due_idle, uccs_pollers_there;
bool uccs_progress_on;
_Thread_local bool uccs_progress_me;
_Thread_local int uccs_pollers_barred;
int (*uccs_poll_table[2][UCCS_POLLERS])(void);

static uint64_t now = UINT64_C(1) << 40;
static int last_look; /* after which no work is due */
static int yields, looks, idles, pollers, rings, finds_look, finds_idle, finds_poller;
static uint64_t yield_takes, patience = 3;
static struct timespec slept;
static char said[400];

int uccs_look_slow(void)
{
    looks++;
    uccs_due = looks == last_look ? 0 : uccs_due;
    return finds_look;
}

static int idle(void)
{
    idles++;
    return finds_idle;
}

int uccs_pollers_slow(void)
{
    pollers++;
    return finds_poller;
}

void uccs_bell_ring_mine(void)
{
    rings++;
}

/* The records of waits. */
static struct {
    int begun, renewed, looked, ended, launcher;
    struct node_awaited on;
    char text[NODE_STAY_TEXT];
    uint64_t since, value;
    uint32_t gives, last;
} stays;

static uint32_t begin_record(const struct node_awaited *on, const char *text, uint64_t since, uintptr_t heap,
                             size_t bytes)
{
    CHECK(heap == 0x1000 && bytes == 0x200);
    stays.begun++;
    stays.on = *on;
    stays.since = since;
    strcpy(stays.text, text);
    return stays.gives;
}

static void renew_record(uint32_t stay, const struct node_awaited *on, const char *text)
{
    stays.renewed++;
    stays.last = stay;
    stays.on = *on;
    strcpy(stays.text, text);
}

static void look_at_record(uint32_t stay, uint64_t value)
{
    stays.looked++;
    stays.last = stay;
    stays.value = value;
}

static void end_record(uint32_t stay)
{
    stays.ended++;
    stays.last = stay;
}

static void look_for_launcher(void)
{
    stays.launcher++;
}

static int yield_now(void)
{
    yields++;
    now += yield_takes;
    return 0;
}

static int sleep_for(const struct timespec *time, struct timespec *left)
{
    CHECK(!left);
    slept = *time;
    now += (uint64_t)time->tv_nsec;
    return 0;
}

static uint64_t told_time(void)
{
    return now;
}

static int64_t told_number(enum env_id name)
{
    CHECK(name == ENV_PATIENCE);
    return (int64_t)patience;
}

#define clock_nanoseconds told_time
#define sched_yield yield_now
#define nanosleep sleep_for
#define env_number told_number
#define rte_stay_begin begin_record
#define rte_stay_renew renew_record
#define rte_stay_looked look_at_record
#define rte_stay_end end_record
#define rte_look_for_launcher look_for_launcher
#define rte_look_for_exit(waited) ((void)(waited))
#undef log_line
#define log_line(...) (void)snprintf(said, sizeof said, __VA_ARGS__)
#include "uccs/core/late.c"
#include "uccs/core/miss.c"
#include "uccs/core/stay.c"
#include "uccs/core/wait.c"

#endif
