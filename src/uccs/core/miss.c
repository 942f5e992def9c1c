#include "uccs/core/miss.h"

#include "base/clock.h"
#include "uccs/core/look.h"
#include "uccs/core/poll.h"
#include "uccs/core/poller.h"

#include <sched.h>

_Thread_local uint8_t uccs_misses;

/* A look costs as much as many tests that only load their variable. Tests that come every QUICK nanoseconds or faster
 * omit SKIPPED looks in a row, so a message that comes in then waits a few microseconds longer at most. */
#define SKIPPED 40
#define QUICK 300

_Thread_local uint32_t uccs_omitted;
static _Thread_local struct {
    uint32_t skipped; /* tests between the last two looks */
    uint64_t looked;  /* time of the last look in nanoseconds */
} tests;

static void plan_next_look(int found)
{
    const uint64_t time = clock_nanoseconds();
    bool quick = time - tests.looked < (uint64_t)QUICK * (tests.skipped + 1);
    tests.looked = time;
    uccs_omitted = tests.skipped = quick && !found ? SKIPPED : 0;
}

/* Returns non-zero when a poller found something, else 0. */
static int look_after_test(void)
{
    bool work = uccs_due_ends();
    int found = uccs_look();
    found |= uccs_poll(UCCS_POLL_IDLE);
    found |= uccs_pollers();
    if (!work)
        plan_next_look(found);
    return found;
}

lat_cold void uccs_missed_slow(bool yield)
{
    int found = look_after_test();
    if (yield && !found)
        sched_yield();
}
