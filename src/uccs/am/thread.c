/* Who handles messages besides the calls of uccs.h: OpenSHMEM's waits and the progress thread handle the network class,
 * the latter while the program computes. */
#include "uccs/am/inner.h"

#include "uccs/core/progress.h"
#include "uccs/comp/tell.h"

static enum uccs_served serve(void)
{
    return uccs_am_poll_network() ? UCCS_SERVED_SOME : UCCS_SERVED_NOTHING;
}

static struct uccs_progress_source served = {.serve = serve,
                                             .polls = uccs_am_polls,
                                             .descriptor = -1,
                                             .alarm = -1,
                                             .rung = true};

static int poll_network(void *unused)
{
    (void)unused;
    return uccs_am_poll_network();
}

static struct uccs_progress_source polled = {.poll = poll_network, .when = UCCS_PROGRESS_IDLE};

void uccs_am_prepare(void)
{
    (void)uccs_progress_add(&served);
    (void)uccs_progress_add(&uccs_event_source);
    uccs_request_reason_add(uccs_bounce_tell);
}

void uccs_am_start(void)
{
    (void)uccs_progress_add(&polled);
}

void uccs_am_stop(void)
{
    uccs_progress_remove(&polled);
}
