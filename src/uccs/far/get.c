/* Gets and atomics on memory of another node, at the origin. See far.h. */
#include "uccs/far/inner.h"

static struct link_message ask_message(enum link_kind kind, struct uccs_far_place at)
{
    return (struct link_message){
        .header = {.kind = (uint8_t)kind, .segment = (uint8_t)at.segment, .at = {at.offset, at.region}}};
}

/* --- Gets. A get without a notice, that no thread waits for, may leave later. */

static void ask_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, const struct uccs_far_with *with,
                    bool ordered, struct far_ask *ask)
{
    struct link_message message = ask_message(LINK_GET, from);
    message.header.get.bytes = ask->ask.bytes;
    message.later = !with;
    if (with)
        message.header.get.notices = far_notice_behind(&message, with);
    message.way = message.later ? far_way(FAR_GETS, from.segment, ask->ask.bytes) : LINK_BY_MESSAGE;
    message.into = ask->dest;
    message.ordered = ordered;
    message.track = link_track_of(on);
    link_ask_send(link_lane_of(on), pe, &message, &ask->ask);
}

static struct uccs_far_with arrival_of(uccs_counter counter)
{
    return (struct uccs_far_with){.what = FAR_COUNT, .value = counter, .weight = 1};
}

bool uccs_far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                  uccs_counter counter)
{
    uint32_t flag = 0;
    const struct uccs_far_with with = arrival_of(counter);
    const bool apart = counter && far_way(FAR_GETS_AND_TELLS, from.segment, bytes) != LINK_BY_MESSAGE;
    struct far_ask ask = {.ask = {.flag = &flag, .bytes = bytes}, .dest = dest};
    ask_get(on, pe, from, counter && !apart ? &with : 0, false, &ask);
    link_await(link_lane_of(on), &flag);
    if (lat_unlikely(apart) && !ask.ask.failed)
        uccs_far_count(on, pe, counter, 1);
    return !ask.ask.failed;
}

void uccs_far_get_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                        const struct uccs_far_with *with, bool ordered, uccs_request_handle *handle,
                        struct uccs_request *local)
{
    const struct far_ask what = {.ask = {.bytes = bytes, .local = local}, .dest = dest};
    ask_get(on, pe, from, with, ordered, far_ask_later(&what, handle));
}

static void ask_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, bool ordered, struct far_ask *ask)
{
    struct link_message message = ask_message(LINK_GET_BLOCKS, from);
    message.header.get_blocks.block = ask->blocks.block;
    message.header.get_blocks.count = ask->blocks.count;
    message.header.get_blocks.stride = ask->blocks.count > 1 ? ask->blocks.there : 0; /* as of a put */
    message.later = true;
    message.ordered = ordered;
    message.track = link_track_of(on);
    link_ask_send(link_lane_of(on), pe, &message, &ask->ask);
}

bool uccs_far_get_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                         const struct uccs_far_blocks *blocks)
{
    uint32_t flag = 0;
    struct far_ask ask = {.ask = {.flag = &flag, .bytes = blocks->block * blocks->count},
                          .dest = dest,
                          .blocks = *blocks};
    ask_blocks(on, pe, from, false, &ask);
    link_await(link_lane_of(on), &flag);
    return !ask.ask.failed;
}

void uccs_far_get_blocks_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                               const struct uccs_far_blocks *blocks, bool ordered, uccs_request_handle *handle,
                               struct uccs_request *local)
{
    const struct far_ask what = {.ask = {.bytes = blocks->block * blocks->count, .local = local},
                                 .dest = dest,
                                 .blocks = *blocks};
    ask_blocks(on, pe, from, ordered, far_ask_later(&what, handle));
}

/* --- Atomics */

static struct link_message amo_message(const struct uccs_far_lanes *on, const struct uccs_atomic_op *op,
                                       struct uccs_far_place at, const struct uccs_far_with *with)
{
    struct link_message message = ask_message(LINK_AMO, at);
    message.header.amo.operand = op->operand;
    message.header.amo.compare = op->compare;
    message.header.amo.what = (uint8_t)op->what;
    message.header.amo.size = (uint8_t)op->size;
    if (with)
        message.header.amo.notices = far_notice_behind(&message, with);
    message.counts = true;
    message.track = link_track_of(on);
    return message;
}

static struct uccs_atomic_op op_of(enum uccs_atomic what, size_t size, uint64_t value, uint64_t cond)
{
    return (struct uccs_atomic_op){what, (uint32_t)size, value, cond};
}

bool uccs_far_amo_fetch(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                        uint64_t value, uint64_t cond, uint64_t *old)
{
    struct link_lane *lane = link_lane_of(on);
    uint32_t flag = 0;
    struct far_ask ask = {.ask = {.flag = &flag, .bytes = sizeof *old}, .dest = old};
    const struct uccs_atomic_op what = op_of(op, size, value, cond);
    const struct link_message message = amo_message(on, &what, at, 0);
    link_ask_send(lane, pe, &message, &ask.ask);
    link_await(lane, &flag);
    return !ask.ask.failed;
}

uint64_t uccs_far_amo(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                      uint64_t value, uint64_t cond)
{
    uint64_t old = 0;
    if (op == UCCS_ATOMIC_SET)
        uccs_far_amo_post(on, pe, op, at, size, value, 0, false, 0, 0);
    else
        uccs_far_amo_fetch(on, pe, op, at, size, value, cond, &old);
    return old;
}

void uccs_far_amo_local(struct uccs_far_lanes *on, int pe, const struct uccs_atomic_op *op, struct uccs_far_place at,
                        void *fetch, const struct uccs_far_with *with, uccs_request_handle *handle,
                        struct uccs_request *local)
{
    const struct far_ask what = {.ask = {.bytes = op->size, .local = local}, .dest = fetch};
    struct far_ask *ask = far_ask_later(&what, handle);
    struct link_message message = amo_message(on, op, at, with);
    message.later = true;
    link_ask_send(link_lane_of(on), pe, &message, &ask->ask);
}

void uccs_far_amo_post(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                       uint64_t value, uint64_t cond, bool later, const struct uccs_far_with *with,
                       uccs_request_handle *handle)
{
    const struct uccs_atomic_op what = op_of(op, size, value, cond);
    struct link_message message = amo_message(on, &what, at, with);
    message.request = far_request_of(handle);
    message.later = later;
    struct link_lane *lane = link_lane_of(on);
    link_make_room(lane);
    link_issue(lane, pe, &message);
}

void uccs_far_get_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                     uccs_counter counter, uccs_request_handle *request)
{
    const struct uccs_far_with with = arrival_of(counter);
    uccs_far_get_local(on, pe, from, dest, bytes, counter ? &with : 0, false, request, 0);
}

void uccs_far_get_blocks_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                            const struct uccs_far_blocks *blocks, uccs_request_handle *request)
{
    uccs_far_get_blocks_local(on, pe, from, dest, blocks, false, request, 0);
}

void uccs_far_amo_nb(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                     uint64_t value, uint64_t cond, void *fetch, uccs_request_handle *request)
{
    const struct uccs_atomic_op what = {op, (uint32_t)size, value, cond};
    uccs_far_amo_local(on, pe, &what, at, fetch, 0, request, 0);
}
