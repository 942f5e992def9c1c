/* Puts to memory of another node, at the origin. See far.h. */
#include "uccs/far/inner.h"

#include "base/copy.h"

#include <stdlib.h>

struct uccs_request *far_request_of(uccs_request_handle *handle)
{
    struct uccs_request *request = handle ? uccs_request_materialise(handle) : 0;
    if (handle && !request)
        uccs_fail("no memory for a request");
    return request;
}

static struct link_header put_header(enum link_kind kind, struct uccs_far_place to)
{
    return (struct link_header){.kind = (uint8_t)kind, .segment = (uint8_t)to.segment, .at = {to.offset, to.region}};
}

/* Notes that the source of a put is not needed any more. */
static void source_left(void *request)
{
    uccs_request_finish_use(request, false);
}

/* The request of a put that is not copied counts the use of its source as an operation of its own, since the message's
 * end may come after the answer of the target. */
static void track_source(struct link_message *message)
{
    if (!message->request || message->flag || !message->bytes || link_copies(message))
        return;
    uccs_request_begin_use(message->request);
    message->left = source_left;
    message->cookie = message->request;
}

static void put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                const struct uccs_far_with *with, uccs_request_handle *handle, struct uccs_request *local,
                uint32_t *flag)
{
    struct link_lane *lane = link_lane_of(on);
    struct link_message message = {.header = put_header(LINK_PUT, to),
                                   .data = source,
                                   .bytes = bytes,
                                   .flag = flag,
                                   .request = far_request_of(handle),
                                   .local = local,
                                   .track = link_track_of(on),
                                   .way = far_way(with ? FAR_PUTS_AND_TELLS : FAR_PUTS, to.segment, bytes),
                                   .counts = true,
                                   .later = !flag && !with};
    if (with)
        message.header.put = far_notice_of(with);
    track_source(&message);
    link_make_room(lane);
    if (local)
        uccs_request_begin(local);
    link_issue(lane, pe, &message);
}

void uccs_far_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                  const struct uccs_far_with *with, uccs_request_handle *request)
{
    uint32_t sent_flag = 0;
    put(on, pe, to, source, bytes, with, request, 0, &sent_flag);
    link_await(link_lane_of(on), &sent_flag);
}

void uccs_far_put_local(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                        const struct uccs_far_with *with, uccs_request_handle *request, struct uccs_request *local)
{
    put(on, pe, to, source, bytes, with, request, local, 0);
}

/* Packs the blocks into one message, which the target unpacks. The operation owns the packed copy. */
void uccs_far_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                         const struct uccs_far_blocks *blocks, bool later, const struct uccs_far_with *with,
                         uccs_request_handle *handle)
{
    const size_t bytes = blocks->block * blocks->count;
    struct uccs_request *request = far_request_of(handle);
    char *packed = malloc(bytes);
    if (!packed)
        uccs_fail("no memory for a strided put");
    copy_blocks(packed, (ptrdiff_t)blocks->block, source, blocks->here, blocks->block, blocks->count);
    struct link_message message = {.header = put_header(LINK_PUT_BLOCKS, to),
                                   .data = packed,
                                   .bytes = bytes,
                                   .buffer = packed,
                                   .request = request,
                                   .track = link_track_of(on),
                                   .counts = true,
                                   .later = later && !with};
    message.header.put_blocks.block = blocks->block;
    message.header.put_blocks.stride =
        blocks->count > 1 ? blocks->there : 0; /* one block may have any, and targets refuse one that wraps */
    if (with)
        message.header.put_blocks.notices = far_notice_behind(&message, with);
    struct link_lane *lane = link_lane_of(on);
    link_make_room(lane);
    link_issue(lane, pe, &message);
}

void uccs_far_count(struct uccs_far_lanes *on, int pe, uccs_counter counter, int64_t weight)
{
    const struct uccs_far_with with = {.what = FAR_COUNT, .value = counter, .weight = weight};
    uccs_far_put_nb(on, pe, (struct uccs_far_place){.segment = FAR_HEAP}, 0, 0, &with, 0);
}

void uccs_far_counter_clear(uccs_counter counter)
{
    link_hold();
    uccs_counter_clear(counter);
    link_go_on();
}

void uccs_far_flag(int pe, uint64_t offset, uint64_t value)
{
    struct link_message message = {.header = put_header(LINK_FLAG, (struct uccs_far_place){FAR_ROWS, offset, 0})};
    message.header.flag.value = value;
    link_issue(link_service(), pe, &message);
}

/* Notes that the source of a parcel is not needed any more. */
static void drop_hold(void *held)
{
    (void)atomic_fetch_sub_acqrel((uint32_t *)held, 1); /* acquire: the sender, which waits until it is 0 */
}

void uccs_far_parcel(int pe, const struct uccs_far_parcel *parcel, uint32_t *held)
{
    struct link_message message = {.header = put_header(LINK_PARCEL, parcel->to),
                                   .data = parcel->data,
                                   .bytes = parcel->bytes,
                                   .left = drop_hold,
                                   .cookie = held};
    message.header.put = far_notice_of(&parcel->with);
    (void)atomic_fetch_add_relaxed(held, 1); /* released by drop_hold */
    link_issue(link_service(), pe, &message);
}

void uccs_far_put_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                     const struct uccs_far_with *with, uccs_request_handle *request)
{
    uccs_far_put_local(on, pe, to, source, bytes, with, request, 0);
}
