/* Who owes this PE an answer, for those who ask what a wait is for. Any thread. */
#include "uccs/proto/inner.h"

#include "uccs/core/wait_record.h"

#include <stdio.h>

/* Returns a PE, or -1 when it knows none, or another thread has the worker. */
static int awaited_on(struct proto_worker *worker, const struct uccs_request *request)
{
    if (pthread_mutex_trylock(&worker->lock) != 0)
        return -1;
    const int pe = worker->at ? proto_handle_awaited(&worker->handles, request) : -1;
    pthread_mutex_unlock(&worker->lock);
    return pe;
}

bool proto_request_reason(const struct uccs_request *request, struct uccs_reason *reason)
{
    for (int i = 0; i < PROTO_WORKERS && proto_active; i++) {
        const int pe = awaited_on(&proto_workers[i], request);
        if (pe < 0)
            continue;
        reason->on = uccs_reason_pe(pe);
        snprintf(reason->text, sizeof reason->text, "an answer");
        return true;
    }
    return false;
}

void proto_reason(const void *unused, struct uccs_reason *reason)
{
    (void)unused;
    (void)proto_request_reason(0, reason);
}
