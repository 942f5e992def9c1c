/* The target's side of far operations: this process applies arrived operations to its memory. Events, under the service
 * worker's lock.
 *
 * Order: this process stores data before the counter, signal or flag that announces it (release; acquire in the
 * program's wait loops). */
#include "uccs/proto/inner.h"

#include "base/copy.h"
#include "uccs/core/doorbell.h"
#include "uccs/mem/region.h"

#include <stdlib.h>
#include <string.h>

#define STORE(bits)                                                                  \
    static void store##bits(char *to, const void *from)                              \
    {                                                                                \
        uint##bits##_t value;                                                        \
        memcpy(&value, from, sizeof value);                                          \
        atomic_store_release((uint##bits##_t *)to, value); /* acquire: wait loops */ \
    }

STORE(8)
STORE(16)
STORE(32)
STORE(64)

/* Stores data after every earlier store of this process, since any data may be a flag. Stores an aligned element by one
 * release store, and other data by a release fence and a copy. */
static void store_data(char *to, const void *from, size_t bytes)
{
    switch ((uintptr_t)to & (bytes - 1) ? 0 : bytes) {
    case 1: store8(to, from); return;
    case 2: store16(to, from); return;
    case 4: store32(to, from); return;
    case 8: store64(to, from); return;
    default: atomic_fence_release(); memcpy(to, from, bytes);
    }
}

/* --- Changes: atomics, accumulates and signals. A stripe's lock is taken here; its holder never waits */

static void apply_change(const struct wire_header *header, const struct uccs_accumulate_op *change, char *to,
                         const char *operand, char *result)
{
    const size_t size = uccs_accumulate_size(change->type), bytes = uccs_accumulate_bytes(change);
    struct uccs_accumulate_op some = *change;
    atomic_fence_release(); /* the elements may be flags: after earlier stores of this process */
    for (size_t done = 0; done < bytes; done += some.n * size) {
        const struct uccs_region_home home =
            header->segment == PROTO_REGION
                ? uccs_region_home(header->at.region, to + done, bytes - done)
                : (struct uccs_region_home){UCCS_DOMAIN_CPU, (uintptr_t)to + done, bytes - done};
        const struct uccs_accumulate_target place = {uccs_core.me, home.domain, home.address, to + done, 0};
        some.n = home.bytes < size ? 1 : home.bytes / size;
        (void)uccs_accumulate_apply(&some, &place, operand ? operand + done : 0, result ? result + done : 0);
    }
}

/* --- Notifications: what the target does once it has applied an operation. A put has its notification in the header; other operations
 * have them behind their data, so that operation and notification are one message. */

/* Returns a notification behind the data of an arrival, the last one but `left` - 1; ends the job when it is none. */
static struct wire_notify read_notice(const struct proto_arrival *arrival, const void *data, size_t left)
{
    struct wire_notify notice;
    memcpy(&notice, (const char *)data + arrival->bytes - left * sizeof notice, sizeof notice);
    proto_wire_notify_check(&arrival->header, &notice, arrival->bytes);
    return notice;
}

/* Stores a signal, or adds to it. Other PEs of the node wait for a word of the rows, too. */
static void set_signal(struct proto_arrival *arrival, const struct wire_notify *notice)
{
    const uint64_t value = notice->signal_value;
    const struct uccs_accumulate_op change = {UCCS_UINT64, notice->what == PROTO_SIGNAL_ADD ? UCCS_SUM : UCCS_REPLACE,
                                              1};
    const struct wire_header at = {.from = arrival->header.from,
                                   .segment = notice->signal_segment,
                                   .at.region = notice->signal_region};
    void *signal = proto_target_word(&at, notice->signal_offset, sizeof value);
    if (lat_unlikely(!signal))
        proto_nack(arrival);
    else
        apply_change(&at, &change, signal, (const char *)&value, 0);
    if (at.segment == PROTO_ROWS)
        uccs_doorbell_wake_peers();
}

static void run_notice(struct proto_arrival *arrival, const struct wire_notify *notice)
{
    switch (notice->what) {
    case PROTO_NOTIFY_NONE: break;
    case PROTO_NOTIFY_COUNT: uccs_counter_arrive_here(notice->counter, notice->weight); break;
    case PROTO_NOTIFY_STALE: uccs_counter_late(notice->counter, uccs_core.me); break;
    default: set_signal(arrival, notice);
    }
}

/* Does what the `count` notifications behind the data say, in their order. */
static void run_notices(struct proto_arrival *arrival, const void *data, size_t count)
{
    for (size_t left = count; left > 0; left--) {
        const struct wire_notify notice = read_notice(arrival, data, left);
        run_notice(arrival, &notice);
    }
}

/* --- Puts */

/* Returns the place of a put's data, or null when the region has been released; proto then fetches the data into a
 * buffer, and land_put refuses it. */
static void *room_for_put(struct proto_arrival *arrival)
{
    return proto_target_address(&arrival->header, arrival->header.at.offset, arrival->bytes);
}

/* Returns false when the region has been released. */
static bool land_put(struct proto_arrival *arrival, const void *data)
{
    char *to = proto_target_address(&arrival->header, arrival->header.at.offset, arrival->bytes);
    if (to && arrival->bytes)
        store_data(to, data, arrival->bytes);
    return to;
}

static void announce_put(struct proto_arrival *arrival)
{
    run_notice(arrival, &arrival->header.put);
}

/* Blocks that lie a stride apart. That their places can be named has been checked (SPAN of wire.def). */
struct spread {
    uint64_t block, count;
    int64_t stride;
};

/* Returns where the first block lies when one range of memory holds all blocks and what is between, else null: then each block is
 * judged by itself. */
static char *find_all(const struct wire_header *header, const struct spread *s)
{
    const int64_t way = (int64_t)(s->count - 1) * s->stride, low = way < 0 ? way : 0;
    const uint64_t bytes = (way < 0 ? -(uint64_t)way : (uint64_t)way) + s->block;
    char *start = proto_target_address(header, header->at.offset + (uint64_t)low, bytes);
    return start ? start - low : 0;
}

static char *find_block(const struct wire_header *header, const struct spread *s, uint64_t number)
{
    return proto_target_address(header, header->at.offset + number * (uint64_t)s->stride, s->block);
}

/* Returns false when the target's memory does not have one of the blocks. */
static bool store_blocks(const struct wire_header *header, const struct spread *s, const char *data)
{
    char *all = find_all(header, s), *to = all;
    if (all) {
        atomic_fence_release();
        copy_blocks(all, s->stride, data, (ptrdiff_t)s->block, s->block, s->count);
    }
    for (uint64_t i = 0; !all && i < s->count && (to = find_block(header, s, i)); i++)
        store_data(to, data + i * s->block, s->block);
    return to;
}

static bool land_blocks(struct proto_arrival *arrival, const void *data)
{
    const struct wire_header *header = &arrival->header;
    const uint64_t bytes = arrival->bytes - header->put_blocks.notices * sizeof(struct wire_notify);
    const struct spread spread = {header->put_blocks.block, bytes / header->put_blocks.block,
                                  header->put_blocks.stride};
    if (!store_blocks(header, &spread, data))
        return false;
    run_notices(arrival, data, header->put_blocks.notices);
    return true;
}

/* --- Gets */

/* The notification of a get, which waits until the data has left. */
struct told {
    struct proto_arrival arrival;
    struct wire_notify notice;
};

static void tell_of_get(void *cookie)
{
    struct told *told = cookie;
    run_notice(&told->arrival, &told->notice);
    free(told);
}

static struct told *told_of(const struct proto_arrival *arrival, const void *data)
{
    struct told *told = uccs_must_have(malloc(sizeof *told), "a get of", (int)arrival->header.from);
    *told = (struct told){*arrival, read_notice(arrival, data, 1)};
    return told;
}

struct proto_send *proto_answer_data(uint64_t handle, const void *from, size_t bytes)
{
    struct proto_send *answer = proto_answer_new(WIRE_DATA);
    answer->header.answer.handle = handle;
    answer->header.answer.failed = !from;
    answer->data = from;
    answer->bytes = from ? bytes : 0;
    return answer;
}

/* Sends from the memory itself, so the get sees its content at the time of sending. A refused get tells nobody. */
static bool serve_get(struct proto_arrival *arrival, const void *data)
{
    const struct wire_header *header = &arrival->header;
    const char *from = proto_target_address(header, header->at.offset, header->get.bytes);
    atomic_fence_acquire(); /* the get sees data that an earlier flag announced */
    struct proto_send *answer = proto_answer_data(header->get.handle, from, header->get.bytes);
    if (from && header->get.notices) {
        answer->left = tell_of_get;
        answer->cookie = told_of(arrival, data);
    }
    proto_answer(arrival->origin, answer);
    return true;
}

/* Returns false when the memory does not have one of the blocks. */
static bool load_blocks(const struct wire_header *header, const struct spread *s, char *packed)
{
    const char *all = find_all(header, s), *from = all;
    if (all)
        copy_blocks(packed, (ptrdiff_t)s->block, all, s->stride, s->block, s->count);
    for (uint64_t i = 0; !all && i < s->count && (from = find_block(header, s, i)); i++)
        memcpy(packed + i * s->block, from, s->block);
    return from;
}

/* Finds the last block before it takes memory for all. */
static void serve_get_blocks(struct proto_arrival *arrival)
{
    const struct wire_header *header = &arrival->header;
    const struct spread spread = {header->get_blocks.block, header->get_blocks.count, header->get_blocks.stride};
    const size_t bytes = spread.block * spread.count;
    const bool ends = find_block(header, &spread, spread.count - 1);
    char *packed = ends ? uccs_must_have(malloc(bytes), "a get of", (int)header->from) : 0;
    const bool good = ends && load_blocks(header, &spread, packed);
    struct proto_send *answer = proto_answer_data(header->get_blocks.handle, good ? packed : 0, bytes);
    answer->buffer = packed;
    proto_answer(arrival->origin, answer);
}

/* --- Changes that messages ask for */

/* A small old value goes in the header of the answer. */
static void answer_change(struct proto_arrival *arrival, const void *old, void *buffer, size_t bytes)
{
    struct proto_send *answer = proto_answer_data(arrival->header.change.handle, old, buffer ? bytes : 0);
    if (old && !buffer)
        memcpy(answer->header.answer.word, old, bytes);
    answer->buffer = buffer;
    answer->header.answer.applied = old ? proto_applied_count(arrival) : 0;
    proto_answer(arrival->origin, answer);
}

/* Returns false when the region has been released and no answer tells of that. */
static bool land_change(struct proto_arrival *arrival, const void *data)
{
    const struct wire_header *header = &arrival->header;
    const struct uccs_accumulate_op change = {header->change.type, header->change.how, header->change.n};
    const size_t bytes = uccs_accumulate_bytes(&change);
    const bool wanted = header->change.handle != 0;
    char *to = proto_target_address(header, header->at.offset, bytes), word[sizeof header->answer.word];
    void *buffer = 0;
    if (to && wanted && bytes > sizeof word)
        buffer = uccs_must_have(malloc(bytes), "old values for", (int)header->from);
    void *old = buffer ? buffer : word;
    if (to) {
        apply_change(header, &change, to,
                     proto_operand_data(uccs_accumulate_operand(&change)) ? data : (const char *)header->change.operand,
                     wanted ? old : 0);
        run_notices(arrival, data, header->change.notices);
    }
    if (wanted)
        answer_change(arrival, to ? old : 0, buffer, bytes);
    return to || wanted;
}

/* Returns false when the memory does not have one of the pieces, or the message not its bytes. */
static bool land_pieces(struct proto_arrival *arrival, const void *data)
{
    const struct wire_header *header = &arrival->header;
    const size_t table = header->pieces.n * sizeof(struct proto_piece);
    struct uccs_accumulate_op change = {header->pieces.type, header->pieces.how, 0};
    const char *from = (const char *)data + table, *end = (const char *)data + arrival->bytes;
    end -= header->pieces.notices * sizeof(struct wire_notify);
    for (uint32_t i = 0; i < header->pieces.n; i++) {
        struct proto_piece piece;
        memcpy(&piece, (const char *)data + i * sizeof piece, sizeof piece);
        char *to = piece.bytes <= (size_t)(end - from) ? proto_target_address(header, piece.offset, piece.bytes) : 0;
        change.n = piece.bytes / uccs_accumulate_size(change.type);
        if (!to)
            return false;
        if (header->pieces.puts)
            store_data(to, from, piece.bytes);
        else
            apply_change(header, &change, to, from, 0);
        from += piece.bytes;
    }
    run_notices(arrival, data, header->pieces.notices);
    return true;
}

const struct proto_handler proto_on_put = {.counts = true,
                                           .room = room_for_put,
                                           .land = land_put,
                                           .landed = announce_put};
const struct proto_handler proto_on_internal_put = {.loose = true,
                                                    .room = room_for_put,
                                                    .land = land_put,
                                                    .landed = announce_put};
const struct proto_handler proto_on_put_blocks = {.counts = true, .land = land_blocks};
const struct proto_handler proto_on_get = {.land = serve_get};
const struct proto_handler proto_on_get_blocks = {.landed = serve_get_blocks};
const struct proto_handler proto_on_pieces = {.counts = true, .land = land_pieces};
const struct proto_handler proto_on_change = {.counts = true, .land = land_change};
