/* Who owes this PE an answer, for those who ask what a wait is for. */
#include "uccs/link/inner.h"

#include "uccs/core/wait_record.h"

#include <stdio.h>

/* Returns a PE, or -1 when it knows none, or another thread has the lane. */
static int awaited_on(struct link_lane *lane, const struct uccs_request *request)
{
    if (pthread_mutex_trylock(&lane->lock) != 0)
        return -1;
    const int pe = lane->at ? link_token_awaited(&lane->tokens, request) : -1;
    pthread_mutex_unlock(&lane->lock);
    return pe;
}

bool link_request_reason(const struct uccs_request *request, struct uccs_reason *reason)
{
    for (int i = 0; i < LINK_LANES && uccs_far_on; i++) {
        const int pe = awaited_on(&link_lanes[i], request);
        if (pe < 0)
            continue;
        reason->on = uccs_reason_pe(pe);
        snprintf(reason->text, sizeof reason->text, "an answer");
        return true;
    }
    return false;
}

void link_reason(const void *unused, struct uccs_reason *reason)
{
    (void)unused;
    (void)link_request_reason(0, reason);
}
