/* The engine of schedules; see inner.h. */
#include "uccs/coll/inner.h"
#include "uccs/mem/accumulate.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"
#include "uccs/core/progress.h"

#include <string.h>

#define PIECE (TAGGED_PIECE - sizeof(struct uccs_tag))
_Static_assert(PIECE % UCCS_TYPE_MOST == 0, "pieces end between elements");

/* Returns the number of pieces. An empty message is one piece, too. */
static uint32_t pieces_of(size_t bytes)
{
    return bytes ? (uint32_t)((bytes + PIECE - 1) / PIECE) : 1;
}

static size_t piece_bytes(size_t bytes, uint32_t piece)
{
    size_t left = bytes - piece * PIECE;
    return left < PIECE ? left : PIECE;
}

static struct uccs_tag key_of(const struct uccs_schedule *s, uint32_t source, uint32_t piece)
{
    return (struct uccs_tag){.group = s->group->number,
                             .sequence = s->sequence,
                             .source = source,
                             .round = s->round,
                             .piece = piece};
}

static bool sent_all(const struct uccs_schedule *s)
{
    return s->step.to < 0 || s->sent == pieces_of(s->step.send_bytes);
}

static bool received_all(const struct uccs_schedule *s)
{
    return s->step.from < 0 || s->received == pieces_of(s->step.receive_bytes);
}

static void send_some(struct uccs_schedule *s)
{
    int pe = sent_all(s) ? -1 : uccs_ranks_world(s->group, s->step.to);
    while (!sent_all(s) && atomic_load_relaxed(&s->out) < SCHEDULE_WINDOW) {
        size_t bytes = piece_bytes(s->step.send_bytes, s->sent);
        struct uccs_tag key = key_of(s, 0, s->sent);
        bool acknowledged = bytes > TAGGED_INLINE || s->sequence % SCHEDULE_LEAD == 0;
        const char *from = bytes ? s->step.send + s->sent * PIECE : 0;
        if (!uccs_tagged_try(pe, &key, from, bytes, acknowledged ? &s->out : 0)) {
            s->task.again = true; /* nobody tells when there is room */
            return;
        }
        s->sent++;
    }
}

static lat_cold _Noreturn void fail_length(const struct uccs_schedule *s, const struct uccs_tagged *message,
                                           size_t wanted)
{
    log_mistake(
        "uccs: members of a group (of %d) called its operation number %llu with different lengths or in a different "
        "order: %zu bytes came from PE %u where %zu were due",
        s->group->size, (unsigned long long)s->sequence, message->length, message->key.source, wanted);
    rte_abort(LAT_EXIT);
}

static void receive_some(struct uccs_schedule *s)
{
    uint32_t source = received_all(s) ? 0 : (uint32_t)uccs_ranks_world(s->group, s->step.from);
    while (!received_all(s)) {
        size_t bytes = piece_bytes(s->step.receive_bytes, s->received);
        struct uccs_tag key = key_of(s, source, s->received);
        struct uccs_tagged *message = uccs_tagged_take(&key);
        if (!message)
            return;
        if (message->length != bytes)
            fail_length(s, message, bytes);
        char *to = s->step.receive + s->received * PIECE;
        if (s->step.fold)
            s->kernel(to, to, message->data, bytes / s->element);
        else if (bytes)
            memcpy(to, message->data, bytes);
        uccs_tagged_drop(message);
        s->received++;
    }
}

static bool plan(struct uccs_schedule *s)
{
    s->step = (struct uccs_step){.to = -1, .from = -1};
    s->sent = s->received = 0;
    s->planned = s->plan(s, s->round, &s->step);
    return s->planned;
}

void uccs_schedule_start(struct uccs_schedule *s)
{
    s->sequence = atomic_fetch_add_relaxed(&s->group->sequence, 1) + 1; /* members call in one order */
    plan(s);
}

bool uccs_schedule_advance(struct uccs_schedule *s)
{
    while (s->planned) {
        send_some(s);
        receive_some(s);
        if (!sent_all(s) || !received_all(s))
            return false;
        s->round++;
        plan(s);
    }
    return atomic_load_acquire(&s->out) == 0; /* acqrel: landed, in message.c */
}

/* Polls the network class and other nodes. Returns 0 when it found nothing. */
static int poll_others(void)
{
    return uccs_progress_poll(UCCS_PROGRESS_LOOK) + uccs_am_poll_network();
}

void uccs_schedule_reason(const struct uccs_schedule *s, struct uccs_reason *reason)
{
    const int other = received_all(s) ? s->step.to : s->step.from;
    if (s->planned && other >= 0)
        reason->on = uccs_reason_pe(uccs_ranks_world(s->group, other));
}

/* Returns the distance between the PEs of neighbouring members, or 0 when it is not the same everywhere. */
static int stride_of(const struct uccs_group_impl *group)
{
    const int stride = group->size > 1 ? uccs_ranks_world(group, 1) - uccs_ranks_world(group, 0) : 1;
    for (int rank = 2; rank < group->size; rank++)
        if (uccs_ranks_world(group, rank) - uccs_ranks_world(group, rank - 1) != stride)
            return 0;
    return stride;
}

/* Nobody leaves a blocking collective without a root before all have come, so it waits for those that have not. */
static void tell_all(const void *schedule, struct uccs_reason *reason)
{
    const struct uccs_schedule *s = schedule;
    const int stride = stride_of(s->group);
    if (s->rooted || stride <= 0)
        uccs_schedule_reason(s, reason);
    else
        reason->on = (struct node_wait_reason){.about = NODE_REASON_PES,
                                               .start = uccs_ranks_world(s->group, 0),
                                               .stride = stride,
                                               .size = s->group->size,
                                               .object = ~s->group->number, /* teams of OpenSHMEM count from 0 */
                                               .number = s->sequence};
}

void uccs_schedule_run(struct uccs_schedule *s, bool user)
{
    struct uccs_wait wait uccs_scoped = {.on = uccs_reason_function(tell_all, s)};
    while (!uccs_schedule_advance(s))
        if (user)
            uccs_am_serve(&wait);
        else if (!poll_others())
            uccs_rest(&wait);
}

/* Plans a dissemination barrier: in round k every member receives from the member 2^k before it. */
bool uccs_schedule_plan_barrier(const struct uccs_schedule *s, uint32_t round, struct uccs_step *step)
{
    int size = s->group->size, rank = s->group->rank;
    int64_t distance = INT64_C(1) << round;
    if (distance >= size)
        return false;
    step->to = (int)((rank + distance) % size);
    step->from = (int)((rank + size - distance) % size);
    return true;
}

void uccs_coll_meet(bool user)
{
    if (!uccs_running())
        return;
    struct uccs_schedule meeting = {.plan = uccs_schedule_plan_barrier, .group = uccs_ranks_library()};
    uccs_schedule_start(&meeting);
    uccs_schedule_run(&meeting, user);
}
