/* What all collectives share: start, wait, tasks, and addresses of members; see inner.h. */
#include "uccs/coll/inner.h"

#include "base/log.h"
#include "rte/rte.h"

#include <stdio.h>
#include <stdlib.h>

uccs_coll_mistake *uccs_coll_found_mistake;

static void reason_all(const void *coll, struct uccs_reason *reason)
{
    const struct uccs_coll *c = coll;
    if (c->family->reason_all)
        c->family->reason_all(c, reason);
}

/* Returns true when all steps are done. */
static bool advance_steps(struct uccs_coll *c)
{
    while (*c->step) {
        uccs_coll_step *const *const now = c->step;
        if (!(*now)(c))
            return false;
        if (c->step == now)
            c->step++;
    }
    return true;
}

static __attribute__((noinline)) void await_end(struct uccs_coll *c)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(reason_all, c)};
    do
        c->family->pause(c, &wait);
    while (!advance_steps(c));
}

void uccs_coll_run(struct uccs_coll *c)
{
    c->family->begin(c);
    if (!advance_steps(c))
        await_end(c);
    if (c->owned)
        free(c->owned);
}

static bool advance_task(struct uccs_task *task)
{
    struct uccs_coll *c = (struct uccs_coll *)task;
    if (!advance_steps(c))
        return false;
    struct uccs_request *request = c->request;
    c->family->release(c);
    free(c->owned);
    free(c);
    uccs_request_finish_use(request, false);
    return true;
}

static bool task_reason(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason)
{
    const struct uccs_coll *c = (const struct uccs_coll *)task;
    if (!uccs_request_counts(request, c->request))
        return false;
    c->family->reason(c, reason);
    snprintf(reason->text, sizeof reason->text, "%s", c->call);
    return true;
}

int uccs_coll_start(const struct uccs_coll *what, uccs_request_handle *handle)
{
    struct uccs_coll *c = malloc(sizeof *c);
    struct uccs_request *request = c ? uccs_request_materialise(handle) : 0;
    if (!request) {
        free(c);
        return UCCS_ERR_NO_MEMORY;
    }
    *c = *what;
    c->task = (struct uccs_task){.advance = advance_task, .reason = task_reason};
    c->request = request;
    uccs_request_begin_use(request);
    c->family->hold(c);
    c->family->begin(c);
    uccs_task_add(&c->task);
    return UCCS_OK;
}

bool uccs_coll_settled(struct uccs_coll *c)
{
    struct uccs_by_memory *m = &c->memory;
    return atomic_load_acquire(&m->under_way.pending) == 1 && /* acqrel: uccs_request_finish */
           atomic_load_acquire(&m->held) == 0;                /* acqrel: proto_send_free */
}

void uccs_coll_settle(struct uccs_coll *c)
{
    struct uccs_wait wait uccs_scoped = {0};
    while (!uccs_coll_settled(c))
        uccs_pause(&wait);
}

void *uccs_coll_resolve(const char *call, const char *argument, const void *address, int pe)
{
    if (pe == uccs_core.me) /* what a member copies for itself may be private, as in a job of one */
        return (void *)(uintptr_t)address;
    void *near = uccs_memory_resolve(address, pe);
    if (!near)
        uccs_coll_found_mistake(call, argument, address, pe);
    return near;
}

struct proto_address uccs_coll_place(const char *call, const char *argument, const void *address, int pe)
{
    struct proto_address place = proto_address(address);
    if (lat_unlikely(place.segment == PROTO_NOWHERE || (place.segment == PROTO_IMAGE && !proto_same_image(pe))))
        uccs_coll_found_mistake(call, argument, address, pe);
    return place;
}

void *uccs_coll_room(const char *call, size_t bytes)
{
    void *room = malloc(bytes);
    if (!room && bytes) {
        log_mistake("%s: no memory for %zu bytes of the other members' data", call, bytes);
        rte_abort(LAT_EXIT);
    }
    return room;
}
