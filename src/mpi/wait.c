/* Tells of waits that last: which window, and for whom. */
#include "progress.h"
#include "window.h"

#include "base/siphash.h"

#include <stdio.h>
#include <time.h>

#define LASTS 0.5 /* seconds */

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
static void tell_meeting(const struct lmpi_window *window, struct uccs_waiting *what)
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

static void begin(struct lmpi_wait *wait, double seconds)
{
    const struct lmpi_window *window = wait->window;
    char text[32];
    struct uccs_waiting what = {.object = window ? text : 0, .rank = -1};
    if (window) {
        snprintf(text, sizeof text, "window %d", window->number);
        if (wait->rank == LMPI_ALL)
            tell_meeting(window, &what);
        else if (wait->rank >= 0)
            what.rank = window->peer[wait->rank].world;
    }
    wait->record = uccs_waiting_begin(&what, seconds);
}

void lmpi_wait_tell(struct lmpi_wait *wait)
{
    const double now = seconds_now();
    if (wait->since == 0)
        wait->since = now;
    else if (now - wait->since > LASTS)
        begin(wait, now - wait->since);
}
