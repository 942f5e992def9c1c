/* Who handles messages besides the calls of uccs.h: OpenSHMEM's waits and the progress thread handle the network class,
 * the latter while the program computes. */
#include "uccs/am/inner.h"

#include "uccs/core/poll.h"
#include "uccs/core/progress_thread.h"
#include "uccs/comp/tell.h"

static enum uccs_served serve(void)
{
    return uccs_am_poll_network() ? UCCS_SERVED_SOME : UCCS_SERVED_NOTHING;
}

static struct uccs_server server = {.serve = serve,
                                    .polls = uccs_am_polls,
                                    .descriptor = -1,
                                    .alarm = -1,
                                    .rung = true};

void uccs_am_prepare(void)
{
    uccs_progress_add(&server);
    uccs_request_reason_add(uccs_bounce_tell);
}

void uccs_am_start(void)
{
    uccs_core_poll_add(uccs_am_poll_network, UCCS_POLL_IDLE);
}

void uccs_am_stop(void)
{
    uccs_core_poll_remove(uccs_am_poll_network);
}
