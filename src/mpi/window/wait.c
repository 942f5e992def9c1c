/* Tells of waits that last: which window, and for whom. */
#include "mpi/window/wait.h"

#include "base/siphash.h"
#include "mpi/core/process.h"
#include "mpi/core/progress.h"
#include "mpi/window/window.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define LONG_SECONDS 0.5 /* seconds */
#define YIELDS 200       /* of a crowded node, before a wait sleeps */
#define POLLS_A_CLOCK 64 /* slow looks between two looks at the clock */

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns how far the window's ranks are apart in the world, or 0 when that differs. */
static int stride_of(const struct lmpi_window *window)
{
    const int stride = window->ranks > 1 ? window->peer[1].world - window->peer[0].world : 1;
    for (int i = 2; i < window->ranks; i++)
        if (window->peer[i].world - window->peer[i - 1].world != stride)
            return 0;
    return stride;
}

/* The window's key is a secret; its hash, which names the window to all its ranks, is none. */
static void describe_barrier(const struct lmpi_window *window, struct uccs_waiting *what)
{
    static const uint64_t label = UINT64_C(0x7761697473); /* nothing else is hashed that is one such word */
    what->stride = stride_of(window);
    if (what->stride <= 0)
        return;
    what->rank = window->peer[0].world;
    what->ranks = window->ranks;
    what->place = siphash(window->key, &label, sizeof label);
    what->meeting = window->round;
}

static void begin_record(struct lmpi_wait *wait, double seconds)
{
    const struct lmpi_window *window = wait->window;
    char text[32];
    struct uccs_waiting what = {.object = window ? text : 0, .rank = -1};
    if (window) {
        snprintf(text, sizeof text, "window %d", window->number);
        if (wait->rank == LMPI_ALL)
            describe_barrier(window, &what);
        else if (wait->rank >= 0)
            what.rank = window->peer[wait->rank].world;
    }
    wait->record = uccs_waiting_begin(&what, seconds);
}

/* Makes the record once the wait has lasted for a while. */
static void record_if_long(struct lmpi_wait *wait)
{
    const double now = seconds_now();
    if (wait->since == 0)
        wait->since = now;
    else if (now - wait->since > LONG_SECONDS)
        begin_record(wait, now - wait->since);
}

void lmpi_pause_slow(struct lmpi_wait *wait)
{
    lmpi_progress();
    if (!wait->record && wait->looks % POLLS_A_CLOCK == 0)
        record_if_long(wait);
    if (wait->looks++ < LMPI_SPINS + YIELDS || !lmpi_process.crowded)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = 50000}, 0);
}
