/* Issuing far operations. See far.h. */
#include "uccs/far.h"

#include "rte/rte.h"
#include "uccs/far_lane.h"
#include "uccs/core/memory.h"

#include <stdlib.h>
#include <string.h>

#define SENDING_MOST 512                /* messages that the transport may hold before issuing waits */
#define ASKING_MOST ((uint32_t)4 << 20) /* bytes that the targets of a lane may hold in answers before asking waits */

bool far_busy(const struct far_lane *lane)
{
    return lat_unlikely(atomic_load_relaxed(&lane->sending) > SENDING_MOST);
}

/* Before taking the lock: too much under way makes the issuer wait. */
static void make_room(struct far_lane *lane)
{
    struct uccs_wait wait = {0};
    while (far_busy(lane))
        if (!far_look(lane))
            uccs_yield(&wait);
}

/* The same before asking: what is asked for lies at the targets until it has left. */
static void make_room_to_ask(struct far_lane *lane)
{
    struct uccs_wait wait = {0};
    while (lat_unlikely(atomic_load_relaxed(&lane->asking) > ASKING_MOST))
        if (!far_look(lane))
            uccs_yield(&wait);
}

void far_await(struct far_lane *lane, const uint32_t *flag)
{
    struct uccs_wait wait = {0};
    while (!atomic_load_acquire(flag)) /* release: far_send_free, far_answered */
        if (!far_look(lane))
            uccs_yield(&wait);
}

/* Counts an operation on the peer and says what it must not overtake. */
static void count(struct far_peer *peer, struct far_header *header)
{
    struct far_lane *lane = peer->lane;
    if (peer->epoch != lane->epoch) {
        peer->epoch = lane->epoch;
        peer->fenced = peer->issued;
    }
    header->after = peer->fenced;
    peer->issued++;
    if (!peer->touched) {
        peer->touched = true;
        peer->next_touched = lane->touched;
        lane->touched = peer;
    }
    far_touch(lane);
}

static struct uccs_request *object_of(uccs_request_handle *handle)
{
    struct uccs_request *request = handle ? uccs_request_materialise(handle) : 0;
    if (handle && !request)
        far_fail("no memory for a request");
    return request;
}

static void attach(struct far_header *header, const struct uccs_far_with *with)
{
    bool counts = with->what == FAR_COUNT;
    header->op = (uint8_t)(counts && !uccs_counter_live(with->value) ? FAR_LATE : with->what);
    header->size = (uint8_t)with->place.segment;
    header->a = counts ? with->value : with->place.offset;
    header->b = counts ? (uint64_t)with->weight : with->value;
}

/* One operation on its way: between begin and end under the lane's lock. */
struct issue {
    struct far_lane *lane;
    struct far_peer *peer;
    struct far_send *send;
};

static struct issue begin(struct far_lane *lane, int pe, const struct far_header *header)
{
    pthread_mutex_lock(&lane->lock);
    struct issue new = {lane, far_peer(lane, pe), far_send_new(lane)};
    const struct far_header mine = new.send->header;
    new.send->header = *header;
    new.send->header.from = mine.from;
    new.send->header.lane = mine.lane;
    return new;
}

static void end(const struct issue *new, const void *data, size_t bytes)
{
    far_send(new->peer, new->send, data, bytes);
    pthread_mutex_unlock(&new->lane->lock);
}

/* For what nobody waits for yet, here or there. */
static void end_later(const struct issue *new, const void *data, size_t bytes)
{
    far_send_later(new->peer, new->send, data, bytes);
    pthread_mutex_unlock(&new->lane->lock);
}

/* Counts it, and lets the request hang on the peer. */
static void track(const struct issue *new, struct uccs_request *request)
{
    count(new->peer, &new->send->header);
    if (request)
        far_hang(new->peer, request);
}

void far_message(int pe, const struct far_header *header, const void *data, size_t bytes, void *buffer,
                 struct uccs_block *block, bool counts)
{
    struct issue new = begin(far_service(), pe, header);
    new.send->buffer = buffer;
    new.send->block = block;
    if (counts)
        count(new.peer, &new.send->header);
    end(&new, data, bytes);
}

static void put(struct far_lane *lane, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                const struct uccs_far_with *with, uccs_request_handle *handle, uint32_t *flag)
{
    struct uccs_request *request = object_of(handle);
    struct far_header header = {.kind = FAR_PUT, .segment = (uint8_t)to.segment, .offset = to.offset, .id = to.region};
    if (with)
        attach(&header, with);
    make_room(lane);
    struct issue new = begin(lane, pe, &header);
    new.send->flag = flag;
    track(&new, request);
    (flag || with ? end : end_later)(&new, source, bytes);
}

void uccs_far_put(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                  const struct uccs_far_with *with, uccs_request_handle *request)
{
    struct far_lane *lane = far_lane_of(on);
    uint32_t sent_flag = 0;
    put(lane, pe, to, source, bytes, with, request, &sent_flag);
    far_await(lane, &sent_flag);
}

void uccs_far_put_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source, size_t bytes,
                     const struct uccs_far_with *with, uccs_request_handle *request)
{
    put(far_lane_of(on), pe, to, source, bytes, with, request, 0);
}

/* Packed here, unpacked there: one message, whose copy is the operation's own. */
void uccs_far_put_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place to, const void *source,
                         const struct uccs_far_blocks *blocks, uccs_request_handle *handle)
{
    struct uccs_request *request = object_of(handle);
    char *packed = malloc(blocks->block * blocks->count);
    if (!packed)
        far_fail("no memory for a strided put");
    for (size_t i = 0; i < blocks->count; i++)
        memcpy(packed + i * blocks->block, (const char *)source + (ptrdiff_t)i * blocks->here, blocks->block);
    const struct far_header header = {.kind = FAR_PUT_BLOCKS,
                                      .segment = (uint8_t)to.segment,
                                      .offset = to.offset,
                                      .id = to.region,
                                      .token = (uint64_t)blocks->there,
                                      .a = blocks->block};
    struct far_lane *lane = far_lane_of(on);
    make_room(lane);
    struct issue new = begin(lane, pe, &header);
    new.send->buffer = packed;
    track(&new, request);
    end(&new, packed, blocks->block * blocks->count);
}

void uccs_far_count(struct uccs_far_lanes *on, int pe, uccs_counter counter, int64_t weight)
{
    const struct uccs_far_with with = {.what = FAR_COUNT, .value = counter, .weight = weight};
    uccs_far_put_nb(on, pe, (struct uccs_far_place){.segment = FAR_HEAP}, 0, 0, &with, 0);
}

void uccs_far_counter_clear(uccs_counter counter)
{
    pthread_mutex_lock(&far_service()->lock); /* messages arrive, and answers leave, under it */
    uccs_counter_clear(counter);
    pthread_mutex_unlock(&far_service()->lock);
}

void uccs_far_flag(int pe, uint64_t offset, uint64_t value)
{
    struct far_lane *lane = far_service();
    pthread_mutex_lock(&lane->lock);
    struct far_send *send = far_send_new(lane);
    send->header.kind = FAR_FLAG;
    send->header.offset = offset;
    send->header.a = value;
    far_send(far_peer(lane, pe), send, 0, 0);
    pthread_mutex_unlock(&lane->lock);
}

/* Sends what is answered; the answer finds `ask`. A small get that nobody waits for yet, and that nobody is to be told
 * of, may leave later, but not a first one: a program that computes meanwhile has reason to hope that it is under way. */
void far_ask(struct far_lane *lane, int pe, const struct far_header *header, struct far_ask *ask)
{
    bool later = !ask->flag && header->op == FAR_NOTHING && far_batch_fits(ask->bytes);
    make_room(lane);
    if (!ask->flag)
        make_room_to_ask(lane);
    struct issue new = begin(lane, pe, header);
    new.send->header.token = (uint64_t)(uintptr_t)ask;
    if (header->kind == FAR_AMO)
        count(new.peer, &new.send->header);
    ask->lane = lane;
    later = later && lane->first;
    ask->pe = pe;
    if (!ask->flag) {
        far_ask_list(ask);
        far_touch(lane);
    }
    (later ? end_later : end)(&new, 0, 0);
}

/* Whether a handle is an old one is known here: the target may not have made its counter yet. */
static uint8_t counted(uccs_counter counter)
{
    return !counter ? FAR_NOTHING : uccs_counter_live(counter) ? FAR_COUNT : FAR_LATE;
}

static struct far_header get_header(struct uccs_far_place from, size_t bytes, uccs_counter counter)
{
    return (struct far_header){.kind = FAR_GET,
                               .op = counted(counter),
                               .segment = (uint8_t)from.segment,
                               .offset = from.offset,
                               .id = from.region,
                               .a = counter,
                               .b = bytes};
}

bool uccs_far_get(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                  uccs_counter counter)
{
    struct far_lane *lane = far_lane_of(on);
    uint32_t flag = 0;
    struct far_ask ask = {.flag = &flag, .dest = dest, .bytes = bytes};
    const struct far_header header = get_header(from, bytes, counter);
    far_ask(lane, pe, &header, &ask);
    far_await(lane, &flag);
    return !ask.failed;
}

/* An ask that is completed by a quiet or a request, and freed then. */
static struct far_ask *ask_later(const struct far_ask *what, uccs_request_handle *handle)
{
    struct far_ask *ask = malloc(sizeof *ask);
    if (!ask)
        far_fail("no memory for what is to be answered");
    *ask = *what;
    ask->request = object_of(handle);
    if (ask->request)
        uccs_request_begin(ask->request);
    return ask;
}

void uccs_far_get_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest, size_t bytes,
                     uccs_counter counter, uccs_request_handle *handle)
{
    struct far_ask *ask = ask_later(&(struct far_ask){.dest = dest, .bytes = bytes}, handle);
    const struct far_header header = get_header(from, bytes, counter);
    far_ask(far_lane_of(on), pe, &header, ask);
}

static struct far_header blocks_header(struct uccs_far_place from, const struct uccs_far_blocks *blocks)
{
    return (struct far_header){.kind = FAR_GET_BLOCKS,
                               .segment = (uint8_t)from.segment,
                               .offset = from.offset,
                               .id = from.region,
                               .after = blocks->block,
                               .a = (uint64_t)blocks->there,
                               .b = blocks->block * blocks->count};
}

bool uccs_far_get_blocks(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                         const struct uccs_far_blocks *blocks)
{
    struct far_lane *lane = far_lane_of(on);
    uint32_t flag = 0;
    const struct far_header header = blocks_header(from, blocks);
    struct far_ask ask = {.flag = &flag, .dest = dest, .bytes = header.b, .blocks = *blocks};
    far_ask(lane, pe, &header, &ask);
    far_await(lane, &flag);
    return !ask.failed;
}

void uccs_far_get_blocks_nb(struct uccs_far_lanes *on, int pe, struct uccs_far_place from, void *dest,
                            const struct uccs_far_blocks *blocks, uccs_request_handle *handle)
{
    const struct far_header header = blocks_header(from, blocks);
    struct far_ask *ask = ask_later(&(struct far_ask){.dest = dest, .bytes = header.b, .blocks = *blocks}, handle);
    far_ask(far_lane_of(on), pe, &header, ask);
}

static struct far_header amo_header(enum uccs_atomic op, struct uccs_far_place at, size_t size, uint64_t value,
                                    uint64_t cond)
{
    return (struct far_header){.kind = FAR_AMO,
                               .op = (uint8_t)op,
                               .size = (uint8_t)size,
                               .segment = (uint8_t)at.segment,
                               .offset = at.offset,
                               .id = at.region,
                               .a = value,
                               .b = cond};
}

bool uccs_far_amo_fetch(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                        uint64_t value, uint64_t cond, uint64_t *old)
{
    struct far_lane *lane = far_lane_of(on);
    uint32_t flag = 0;
    struct far_ask ask = {.flag = &flag, .dest = old, .bytes = sizeof *old};
    const struct far_header header = amo_header(op, at, size, value, cond);
    far_ask(lane, pe, &header, &ask);
    far_await(lane, &flag);
    return !ask.failed;
}

uint64_t uccs_far_amo(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                      uint64_t value, uint64_t cond)
{
    uint64_t old = 0;
    if (op == UCCS_ATOMIC_SET)
        uccs_far_amo_post(on, pe, op, at, size, value, 0, 0);
    else
        uccs_far_amo_fetch(on, pe, op, at, size, value, cond, &old);
    return old;
}

void uccs_far_amo_nb(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                     uint64_t value, uint64_t cond, void *fetch, uccs_request_handle *handle)
{
    struct far_ask *ask = ask_later(&(struct far_ask){.dest = fetch, .bytes = size}, handle);
    const struct far_header header = amo_header(op, at, size, value, cond);
    far_ask(far_lane_of(on), pe, &header, ask);
}

void uccs_far_amo_post(struct uccs_far_lanes *on, int pe, enum uccs_atomic op, struct uccs_far_place at, size_t size,
                       uint64_t value, uint64_t cond, uccs_request_handle *handle)
{
    struct uccs_request *request = object_of(handle);
    const struct far_header header = amo_header(op, at, size, value, cond);
    struct far_lane *lane = far_lane_of(on);
    make_room(lane);
    struct issue new = begin(lane, pe, &header);
    track(&new, request);
    end(&new, 0, 0);
}

struct uccs_far_place uccs_far_place(const void *addr)
{
    size_t offset;
    switch (uccs_memory_find(addr, &offset)) {
    case UCCS_HEAP: return (struct uccs_far_place){.segment = FAR_HEAP, .offset = offset};
    case UCCS_IMAGE: return (struct uccs_far_place){.segment = FAR_IMAGE, .offset = offset};
    default: return (struct uccs_far_place){.segment = FAR_NOWHERE};
    }
}

const void *uccs_far_address(struct uccs_far_place place)
{
    if (place.segment == FAR_HEAP)
        return (const char *)uccs_core.heap_start + place.offset;
    return (const char *)uccs_memory_image_start() + place.offset;
}
