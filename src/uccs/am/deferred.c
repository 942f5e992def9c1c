/* Counts of deferred operations; see am.h. */
#include "uccs/am/am.h"

#include "uccs/core/thread.h"

static struct {
    cache_aligned uint32_t count;
} deferred[OWN_CONTEXTS][OWN_LANES]; /* acqrel */

static uint32_t lane_of_mine(void)
{
    return uccs_thread() % OWN_LANES;
}

static bool lane_done(const struct uccs_context *context, uint32_t lane)
{
    return atomic_load_acquire(&deferred[context->attr.id][lane].count) == 0; /* acqrel: remote.c */
}

uint32_t *uccs_deferred_begin(const struct uccs_context *context)
{
    uint32_t *count = &deferred[context->attr.id][lane_of_mine()].count;
    (void)atomic_fetch_add_relaxed(count, 1); /* before the message that carries the operation */
    return count;
}

bool uccs_deferred_done(const struct uccs_context *context)
{
    if (context->attr.scope == UCCS_SCOPE_THREAD)
        return lane_done(context, lane_of_mine());
    for (uint32_t lane = 0; lane < OWN_LANES; lane++)
        if (!lane_done(context, lane))
            return false;
    return true;
}

void uccs_deferred_wait(const struct uccs_context *context)
{
    struct uccs_wait wait = {0};
    while (!uccs_deferred_done(context))
        uccs_am_serve(&wait);
}

void uccs_deferred_wait_mine(const struct uccs_context *context)
{
    struct uccs_wait wait = {0};
    while (!lane_done(context, lane_of_mine()))
        uccs_am_serve(&wait);
}
