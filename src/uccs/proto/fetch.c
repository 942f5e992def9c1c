/* Handles answers at the origin: the data of gets, and the old values of atomics. Events, under the worker's lock. */
#include "uccs/proto/target.h"

#include "base/copy.h"

#include <string.h>

/* Returns the ask that the data answers. The first call ends its token. */
static struct proto_fetch *ask_of(struct proto_arrival *arrival)
{
    if (!arrival->cookie)
        arrival->cookie = proto_pending_take(arrival);
    return arrival->cookie;
}

static void unpack(const struct proto_fetch *ask, const char *data)
{
    const struct proto_blocks *blocks = &ask->blocks;
    copy_blocks(ask->dest, blocks->here, data, (ptrdiff_t)blocks->block, blocks->block, blocks->count);
}

static void check_length(struct proto_arrival *arrival)
{
    const struct proto_fetch *ask = ask_of(arrival);
    if (!arrival->header.answer.failed && arrival->bytes != ask->ask.bytes)
        uccs_fail("PE %u answered a get of %zu bytes by %zu", arrival->header.from, ask->ask.bytes, arrival->bytes);
}

/* Returns the place for the data of a get; null for blocks, which land_data unpacks from a buffer. */
static void *room_for_data(struct proto_arrival *arrival)
{
    check_length(arrival);
    const struct proto_fetch *ask = ask_of(arrival);
    return ask->blocks.count ? 0 : ask->dest;
}

static bool land_data(struct proto_arrival *arrival, const void *data)
{
    struct proto_fetch *ask = ask_of(arrival);
    check_length(arrival);
    if (arrival->header.answer.failed)
        return true;
    if (ask->blocks.count)
        unpack(ask, data);
    else if (arrival->bytes)
        memcpy(ask->dest, data, arrival->bytes);
    return true;
}

static void settle_data(struct proto_arrival *arrival)
{
    struct proto_fetch *ask = ask_of(arrival);
    ask->ask.failed = arrival->header.answer.failed;
    proto_applied_note(&ask->ask, arrival->header.answer.applied);
    proto_pending_settle(&ask->ask);
}

/* Handles the old value of an atomic, or the answer to a question about a region. */
static void settle_answer(struct proto_arrival *arrival)
{
    struct proto_fetch *ask = ask_of(arrival);
    ask->ask.failed = arrival->header.answer.failed;
    if (ask->dest && !ask->ask.failed)
        proto_store_value(ask->dest, ask->ask.bytes, arrival->header.answer.old);
    proto_applied_note(&ask->ask, arrival->header.answer.applied);
    proto_pending_settle(&ask->ask);
}

const struct proto_handler proto_on_data = {.loose = true,
                                            .room = room_for_data,
                                            .land = land_data,
                                            .landed = settle_data};
const struct proto_handler proto_on_answer = {.loose = true, .landed = settle_answer};
