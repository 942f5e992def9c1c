#include "uccs/comp/tell.h"

#include "uccs/core/task.h"
#include "uccs/comp/threshold.h"

#include <inttypes.h>
#include <stdio.h>

static bool (*tellers[UCCS_REQUEST_REASONS])(const struct uccs_request *, struct uccs_reason *);

void uccs_request_reason_add(bool (*teller)(const struct uccs_request *request, struct uccs_reason *reason))
{
    for (int i = 0; i < UCCS_REQUEST_REASONS; i++) {
        if (tellers[i] == teller)
            return;
        if (!tellers[i]) {
            tellers[i] = teller;
            return;
        }
    }
}

static bool tellers_know(const struct uccs_request *request, struct uccs_reason *reason)
{
    for (int i = 0; i < UCCS_REQUEST_REASONS && tellers[i]; i++)
        if (tellers[i](request, reason))
            return true;
    return false;
}

static void tell_request(const struct uccs_request *request, struct uccs_reason *reason)
{
    if (uccs_threshold_tell(request, reason) || uccs_task_reason(request, reason) || tellers_know(request, reason))
        return;
    const uint32_t left = atomic_load_relaxed(&request->pending) - 1;
    snprintf(reason->text, sizeof reason->text, "%" PRIu32 " operation%s", left, left == 1 ? "" : "s");
}

void uccs_reason_handles(const void *what, struct uccs_reason *reason)
{
    const struct uccs_reason_handles *these = what;
    for (size_t i = 0; i < these->n; i++) {
        const struct uccs_request *request = uccs_request_object(these->handles[i]);
        if (request && !(these->left_out && these->left_out[i]) &&
            atomic_load_acquire(&request->pending) != 1) { /* acqrel: uccs_request_finish */
            tell_request(request, reason);
            return;
        }
    }
}
