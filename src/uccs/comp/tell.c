#include "uccs/comp/tell.h"

#include "uccs/core/work.h"
#include "uccs/comp/threshold.h"

#include <inttypes.h>
#include <stdio.h>

static bool (*tellers[UCCS_TELLERS])(const struct uccs_request *, struct uccs_told *);

void uccs_teller_add(bool (*teller)(const struct uccs_request *request, struct uccs_told *told))
{
    for (int i = 0; i < UCCS_TELLERS; i++) {
        if (tellers[i] == teller)
            return;
        if (!tellers[i]) {
            tellers[i] = teller;
            return;
        }
    }
}

static bool tellers_know(const struct uccs_request *request, struct uccs_told *told)
{
    for (int i = 0; i < UCCS_TELLERS && tellers[i]; i++)
        if (tellers[i](request, told))
            return true;
    return false;
}

static void tell_request(const struct uccs_request *request, struct uccs_told *told)
{
    if (uccs_threshold_tell(request, told) || uccs_work_tell(request, told) || tellers_know(request, told))
        return;
    const uint32_t left = atomic_load_relaxed(&request->pending) - 1;
    snprintf(told->text, sizeof told->text, "%" PRIu32 " operation%s", left, left == 1 ? "" : "s");
}

void uccs_tell_handles(const void *what, struct uccs_told *told)
{
    const struct uccs_tell_handles *these = what;
    for (size_t i = 0; i < these->n; i++) {
        const struct uccs_request *request = uccs_request_object(these->handles[i]);
        if (request && !(these->left_out && these->left_out[i]) &&
            atomic_load_acquire(&request->pending) != 1) { /* acqrel: uccs_request_finish */
            tell_request(request, told);
            return;
        }
    }
}
