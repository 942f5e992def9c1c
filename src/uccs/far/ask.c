/* Handles answers at the origin: the data of gets, and the old values of atomics. Events, under the lane's lock. */
#include "uccs/far/inner.h"

#include "base/copy.h"

#include <string.h>

/* Returns the ask that the data answers. The first call ends its token. */
static struct far_ask *ask_of(struct link_arrival *arrival)
{
    if (!arrival->cookie)
        arrival->cookie = link_answered(arrival);
    return arrival->cookie;
}

static void unpack(const struct far_ask *ask, const char *data)
{
    const struct uccs_far_blocks *blocks = &ask->blocks;
    copy_blocks(ask->dest, blocks->here, data, (ptrdiff_t)blocks->block, blocks->block, blocks->count);
}

static void check_length(struct link_arrival *arrival)
{
    const struct far_ask *ask = ask_of(arrival);
    if (!arrival->header.answer.failed && arrival->bytes != ask->ask.bytes)
        uccs_fail("PE %u answered a get of %zu bytes by %zu", arrival->header.from, ask->ask.bytes, arrival->bytes);
}

/* Returns the place for the data of a get; null for blocks, which land_data unpacks from a buffer. */
static void *room_for_data(struct link_arrival *arrival)
{
    check_length(arrival);
    const struct far_ask *ask = ask_of(arrival);
    return ask->blocks.count ? 0 : ask->dest;
}

static bool land_data(struct link_arrival *arrival, const void *data)
{
    struct far_ask *ask = ask_of(arrival);
    check_length(arrival);
    if (arrival->header.answer.failed)
        return true;
    if (ask->blocks.count)
        unpack(ask, data);
    else if (arrival->bytes)
        memcpy(ask->dest, data, arrival->bytes);
    return true;
}

static void settle_data(struct link_arrival *arrival)
{
    struct far_ask *ask = ask_of(arrival);
    ask->ask.failed = arrival->header.answer.failed;
    link_hear(&ask->ask, arrival->header.answer.applied);
    link_settle(&ask->ask);
}

/* Handles the old value of an atomic, or the answer to a question about a region. */
static void settle_answer(struct link_arrival *arrival)
{
    struct far_ask *ask = ask_of(arrival);
    ask->ask.failed = arrival->header.answer.failed;
    if (ask->dest && !ask->ask.failed)
        uccs_far_give(ask->dest, ask->ask.bytes, arrival->header.answer.old);
    link_hear(&ask->ask, arrival->header.answer.applied);
    link_settle(&ask->ask);
}

const struct link_handler far_on_data = {.loose = true,
                                         .room = room_for_data,
                                         .land = land_data,
                                         .landed = settle_data};
const struct link_handler far_on_answer = {.loose = true, .landed = settle_answer};
