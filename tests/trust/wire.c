/* Messages of other nodes. What wire.def describes is taken; everything else ends the job with one line that names the
 * peer, the kind and what is wrong, and touches nothing. */
#include "fuzz/world.h"

#include "rte/node.h"
#include "uccs/am/am.h"
#include "uccs/proto/initiator.h"

#include "unit/check.h"

#include <shmem.h>
#include <string.h>
#include <unistd.h>

static char data[65536];

static struct wire_header from_one(enum proto_wire_kind kind)
{
    return (struct wire_header){.kind = (uint8_t)kind, .from = 1};
}

static struct wire_header to_heap(enum proto_wire_kind kind)
{
    struct wire_header h = from_one(kind);
    h.segment = PROTO_HEAP;
    h.at.offset = proto_address(world_heap).offset;
    return h;
}

static const char *why; /* of the last delivery; null: taken */

static bool taken(struct wire_header h, size_t bytes)
{
    world_reset();
    why = world_deliver(&h, data, bytes, false);
    if (why)
        fprintf(stderr, "refused: %s\n", why);
    return !why && !world_poll();
}

static bool refused_as(struct wire_header h, size_t bytes, const char *words)
{
    world_reset();
    why = world_deliver(&h, data, bytes, false);
    if (!why || !strstr(why, words))
        fprintf(stderr, "kind %u, \"%s\": %s\n", h.kind, words, why ? why : "taken");
    return why && strstr(why, words) && strstr(why, "PE 1");
}

#define REFUSED(h, bytes, words) CHECK(refused_as(h, bytes, words))

static void anybody(void)
{
    struct wire_header h = to_heap(WIRE_PUT);
    CHECK(taken(h, 8));
    h.from = 0;
    world_reset();
    why = world_deliver(&h, data, 8, false);
    CHECK(why && strstr(why, "PE 0 sent a wrong PUT: that PE is not one of another node"));
    h.from = WORLD_PES;
    CHECK(world_deliver(&h, data, 8, false));
    h = to_heap(WIRE_PUT);
    h.worker = PROTO_WORKERS;
    REFUSED(h, 8, "there is no such worker");
    h = to_heap(WIRE_KINDS);
    REFUSED(h, 8, "there is no such kind");
}

/* PEs of this node, and this one, send what the network's atomics on their memory need, and no operation. */
static void neighbours(void)
{
    for (int kind = 0; kind < WIRE_KINDS; kind++) {
        const bool may = kind == WIRE_KEY || kind == WIRE_KEYED || kind == WIRE_HELLO || kind == WIRE_FLUSH ||
                         kind == WIRE_FLUSHED || kind == WIRE_BATCH;
        for (int direct = 0; direct < 2; direct++) {
            struct wire_header h = from_one((enum proto_wire_kind)kind);
            world_reset();
            proto_has_direct = direct;
            h.from = 0;
            why = world_deliver(&h, data, 1, false);
            CHECK((why && strstr(why, "that PE is not one of another node")) == !(direct && may));
            h.from = WORLD_PES;
            why = world_deliver(&h, data, 1, false);
            CHECK(why && strstr(why, "that PE is not one of another node"));
        }
    }
    proto_has_direct = false;
    struct wire_header h = to_heap(WIRE_KINDS);
    REFUSED(h, 8, "sent a wrong message of no kind");
}

static void places(void)
{
    static const enum proto_wire_kind kinds[] = {WIRE_PUT,        WIRE_PUT_BLOCKS, WIRE_INTERNAL_PUT, WIRE_GET,
                                                 WIRE_GET_BLOCKS, WIRE_CHANGE,     WIRE_LOCK,         WIRE_UNLOCK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct wire_header h = from_one(kinds[i]);
        REFUSED(h, 0, "names memory that no such message reaches");
        h.segment = PROTO_SEGMENTS;
        REFUSED(h, 0, "names memory that no such message reaches");
    }
    struct wire_header h = to_heap(WIRE_PUT);
    h.at.offset = (4 << 20) - 4;
    REFUSED(h, 8, "PE 1 reaches beyond the memory of PE 0");
    h.at.offset = UINT64_MAX - 3;
    REFUSED(h, 8, "reaches beyond");
    h.segment = PROTO_REGION;
    h.at = (struct wire_memory){WORLD_ROOM - 4, world_region};
    REFUSED(h, 8, "reaches beyond");
}

static void rows(void)
{
    const uint64_t row = (uint64_t)NODE_GROUP_LINES * CACHE_LINE;
    struct wire_header h = from_one(WIRE_INTERNAL_PUT);
    h.segment = h.put.signal_segment = PROTO_ROWS;
    h.put.what = PROTO_SIGNAL_SET;
    h.put.signal_offset = row * NODE_GROUP_AREAS - 8;
    CHECK(taken(h, 0));
    h.put.signal_offset = row * NODE_GROUP_AREAS;
    REFUSED(h, 0, "reaches beyond");
    h.put.signal_offset = UINT64_MAX - 7;
    REFUSED(h, 0, "reaches beyond");
    h.put.signal_offset = 12;
    REFUSED(h, 0, "is not aligned");
    h.put.signal_segment = PROTO_REGION;
    REFUSED(h, 0, "its notice is none");
    h.segment = PROTO_REGION;
    REFUSED(h, 0, "names memory that no such message reaches");
    h = from_one(WIRE_INTERNAL_PUT);
    h.segment = PROTO_LANDING;
    h.at.offset = world_room + WORLD_ROOM - 8;
    CHECK(taken(h, 8));
    REFUSED(h, 9, "reaches beyond");
    h.at.offset = 77 * PROTO_LANDING_MOST;
    REFUSED(h, 8, "reaches beyond");
}

static void notices(void)
{
    struct wire_header h = to_heap(WIRE_PUT);
    h.put.what = PROTO_SIGNAL_ADD;
    h.put.signal_segment = PROTO_HEAP;
    h.put.signal_offset = h.at.offset + 16;
    h.put.signal_value = 5;
    const uint64_t before = *(uint64_t *)(world_heap + 16);
    CHECK(taken(h, 8) && *(uint64_t *)(world_heap + 16) == before + 5);
    h.put.signal_offset += 4;
    REFUSED(h, 8, "a word of 8 bytes of PE 0 that is not aligned");
    h.put.signal_segment = PROTO_SEGMENTS;
    REFUSED(h, 8, "its notice is none");
    h.put.what = PROTO_SIGNAL_ADD + 1;
    REFUSED(h, 8, "its notice is none");
    h.put.what = PROTO_NOTIFY_COUNT;
    h.put.counter = UINT64_MAX; /* names no counter: counts nothing */
    CHECK(taken(h, 8));
}

static void blocks(void)
{
    struct wire_header h = to_heap(WIRE_PUT_BLOCKS);
    h.put_blocks.block = 8;
    h.put_blocks.stride = 16;
    CHECK(taken(h, 64));
    REFUSED(h, 0, "its data is not a number of blocks");
    REFUSED(h, 63, "its data is not a number of blocks");
    h.put_blocks.block = 0;
    REFUSED(h, 64, "its data is not a number of blocks");
    h.put_blocks.block = 8;
    h.put_blocks.stride = INT64_MAX / 4;
    REFUSED(h, 64, "its blocks reach beyond any memory");
    h.put_blocks.stride = INT64_MIN;
    REFUSED(h, 64, "its blocks reach beyond any memory");
    h.put_blocks.stride = 4 << 20;
    REFUSED(h, 64, "reaches beyond the memory");
    h.put_blocks.stride = INT64_MAX;
    h.at.offset += 8;
    REFUSED(h, 8, "its blocks reach beyond any memory");
    h.at.offset -= 8;
    h.put_blocks.stride = INT64_C(1) << 60; /* of one block, which takes no step */
    data[0] = 77;
    CHECK(taken(h, 8) && world_heap[0] == 77);
    data[0] = 0;
    h = to_heap(WIRE_GET_BLOCKS);
    h.handle = 1;
    h.get_blocks.block = 8;
    h.get_blocks.count = 8;
    h.get_blocks.stride = -8;
    h.at.offset += 64;
    CHECK(taken(h, 0) && world_sent.bytes == 64);
    h.get_blocks.count = UINT64_C(1) << 61;
    REFUSED(h, 0, "its blocks reach beyond any memory");
    h.get_blocks.count = 0;
    REFUSED(h, 0, "its blocks reach beyond any memory");
    h.get_blocks.count = 8;
    h.get_blocks.block = 0;
    REFUSED(h, 0, "its blocks reach beyond any memory");
    REFUSED(h, 8, "its blocks reach beyond any memory");
    h = to_heap(WIRE_GET_BLOCKS);
    h.get_blocks.handle = 1;
    h.get_blocks.block = WORLD_ROOM;
    h.get_blocks.stride = 0;
    h.get_blocks.count = 3; /* blocks that overlap are a get like any other */
    CHECK(taken(h, 0));
    h.get_blocks.count = (64 << 20) / WORLD_ROOM + 1;
    REFUSED(h, 0, "its blocks overlap and have too many bytes");
    h.get_blocks.stride = -WORLD_ROOM + 1;
    h.at.offset = UINT64_C(1) << 40;
    REFUSED(h, 0, "its blocks overlap and have too many bytes");
    h.at.offset = 0;
    h.get_blocks.stride = WORLD_ROOM;
    h.get_blocks.count = UINT64_C(1) << 40; /* 4 PB, for which nobody must ask the system */
    REFUSED(h, 0, "reaches beyond");
}

static void notices_behind_data(void)
{
    struct wire_notify notice = {.what = PROTO_SIGNAL_ADD, .signal_segment = PROTO_HEAP, .signal_value = 5};
    struct wire_header h = to_heap(WIRE_PUT_BLOCKS);
    const size_t bytes = 16 + sizeof notice;
    const uint64_t before = *(uint64_t *)(world_heap + 64);
    notice.signal_offset = h.at.offset + 64;
    h.put_blocks.block = 8;
    h.put_blocks.stride = 16;
    h.put_blocks.notices = 1;
    memcpy(data + 16, &notice, sizeof notice);
    CHECK(taken(h, bytes) && *(uint64_t *)(world_heap + 64) == before + 5);
    REFUSED(h, sizeof notice, "its data is not a number of blocks");
    REFUSED(h, sizeof notice - 1, "its put_blocks.notices are cut off");
    h.put_blocks.notices = 2;
    REFUSED(h, sizeof notice + 8, "its put_blocks.notices are cut off");
    memcpy(data + 16 + sizeof notice, &notice, sizeof notice);
    CHECK(taken(h, bytes + sizeof notice) && *(uint64_t *)(world_heap + 64) == before + 10);
    h.put_blocks.notices = 3;
    REFUSED(h, 16 + 3 * sizeof notice, "its put_blocks.notices are cut off");
    h.put_blocks.notices = 1;
    notice.what = PROTO_SIGNAL_ADD + 1;
    memcpy(data + 16, &notice, sizeof notice);
    REFUSED(h, bytes, "its notice is none");
    h.put_blocks.notices = 2;
    REFUSED(h, bytes + sizeof notice, "its notice is none");
    h = to_heap(WIRE_GET);
    h.handle = 1;
    h.get.bytes = 8;
    h.get.notices = 2;
    REFUSED(h, 2 * sizeof notice, "its get.notices are cut off");
    h.get.notices = 1;
    REFUSED(h, bytes, "it brings data");
    memcpy(data, &notice, sizeof notice);
    REFUSED(h, sizeof notice, "its notice is none");
}

static void asks(void)
{
    struct wire_header h = to_heap(WIRE_GET);
    h.handle = 1;
    h.get.bytes = 64;
    CHECK(taken(h, 0) && world_sent.bytes == 64);
    REFUSED(h, 1, "it brings data");
    h.get.bytes = UINT64_MAX;
    REFUSED(h, 0, "reaches beyond");
    h.handle = 0;
    REFUSED(h, 0, "it has no token");
    h = to_heap(WIRE_CHANGE);
    h.change.n = 1;
    h.change.type = UCCS_UINT64;
    h.change.how = UCCS_SUM;
    h.change.operand[0] = 5;
    h.change.handle = 1;
    CHECK(taken(h, 0) && world_heap[0] == 5 && world_sent.header.kind == WIRE_DATA && world_sent.bytes == 0);
    REFUSED(h, 8, "it names no operation on elements with that many bytes");
    h = from_one(WIRE_CHANGE);
    h.segment = PROTO_REGION;
    h.at.region = world_region;
    h.change.n = 8;
    h.change.type = UCCS_INT32;
    h.change.how = UCCS_SUM;
    CHECK(taken(h, 32));
    REFUSED(h, 31, "it names no operation on elements with that many bytes");
    h.change.n = UINT32_MAX;
    REFUSED(h, 32, "its change.n is too large");
    h.change.n = 8;
    h.change.how = 200;
    REFUSED(h, 32, "it names no operation");
}

static long got;

static void ask(void *unused)
{
    (void)unused;
    const struct proto_op get =
        {.kind = PROTO_GET, .nonblocking = true, .pe = 1, .at.segment = PROTO_HEAP, .dest = &got, .bytes = sizeof got};
    (void)proto_rma_or_end(&get);
}

/* Makes links anew, asks PE 1 for the bytes of `got`, and returns the answer that PE 1 would give. */
static struct wire_header answer_to_get(void)
{
    struct wire_header h = from_one(WIRE_DATA);
    world_reset();
    CHECK(!world_try(ask, 0) && world_sent.header.kind == WIRE_GET);
    h.answer.handle = world_sent.header.handle;
    return h;
}

static bool answer_refused(struct wire_header h, size_t bytes, bool rest, const char *words)
{
    why = world_deliver(&h, data, bytes, rest);
    if (!why || !strstr(why, words))
        fprintf(stderr, "kind %u, \"%s\": %s\n", h.kind, words, why ? why : "taken");
    return why && strstr(why, words);
}

/* An answer comes once, from the PE that was asked, of the kind that was asked for; no number makes an address. */
static void tokens(void)
{
    for (int rest = 0; rest < 2; rest++) {
        struct wire_header h = answer_to_get();
        memset(data, 3 + rest, sizeof got);
        CHECK(!world_deliver(&h, data, sizeof got, rest) && got == (rest ? 0x0404040404040404 : 0x0303030303030303));
        CHECK(answer_refused(h, sizeof got, rest,
                             "PE 1 sent a message DATA that this PE has not asked for, or has had already"));
        h = answer_to_get();
        h.from = 2;
        CHECK(answer_refused(h, sizeof got, rest, "PE 2 sent a message DATA that this PE has not asked for"));
        h = answer_to_get();
        CHECK(answer_refused(h, sizeof got - 1, rest, "PE 1 answered a get of 8 bytes by 7"));
        h = answer_to_get();
        h.answer.handle += 1;
        CHECK(answer_refused(h, sizeof got, rest, "has not asked for"));
        h.answer.handle = (uintptr_t)&got;
        CHECK(answer_refused(h, sizeof got, rest, "has not asked for"));
    }
    static const enum proto_wire_kind others[] = {WIRE_FLUSHED, WIRE_LOCKED};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct wire_header h = answer_to_get();
        h.kind = (uint8_t)others[i];
        CHECK(answer_refused(h, 0, false, "has not asked for"));
    }
    struct wire_header h = from_one(WIRE_AM_DONE);
    h.am_done.block = UINT64_C(1) << 32 | 1;
    REFUSED(h, 0, "sent a message AM_DONE that this PE has not asked for");
    h.am_done.block = 0;
    h.am_done.count = 1;
    REFUSED(h, 0, "PE 1 says that it has handled 1 messages of 0 bytes, more than it has got");
    memset(data, 0, sizeof got);
}

/* A network that does nothing by itself has no key to give. */
static void keys(void)
{
    struct wire_header h = to_heap(WIRE_KEY);
    h.at.offset = 0;
    h.key.handle = 1;
    CHECK(taken(h, 0) && world_sent.header.kind == WIRE_KEYED && world_sent.bytes == 0);
    REFUSED(h, 1, "it brings data");
    h.at.offset = 8;
    REFUSED(h, 0, "it names no piece");
}

static void answers(void)
{
    struct wire_header h = from_one(WIRE_DATA);
    REFUSED(h, 8, "it has no token");
    h.answer.handle = 1;
    h.answer.failed = 1;
    REFUSED(h, 8, "it has failed and brings data");
    h.answer.failed = 2;
    REFUSED(h, 0, "its answer.failed is too large");
    h = from_one(WIRE_FLUSHED);
    h.flushed.handle = 1;
    REFUSED(h, 7, "its data is cut off");
}

static void messages(void)
{
    struct wire_header h = from_one(WIRE_AM);
    h.am.number = 1;
    h.am.context = 0;
    unsigned before = world_handled;
    CHECK(taken(h, 8) && world_handled == before + 1);
    REFUSED(h, UCCS_SHORT_MAX + 1, "it brings too much data");
    h.am.id = UCCS_MESSAGE_SLOTS;
    REFUSED(h, 8, "its am.id is too large");
    h.am.id = 0;
    world_reset();
    CHECK(!world_deliver(&h, data, 8, false));
    CHECK(answer_refused(h, 8, false, "PE 1 sent message 1 of context 0 twice"));
    h.am.context = PE_SHARED_LIBRARY_CONTEXT;
    h.am.ring = 1;
    h.am.id = UCCS_INNER_TAGGED;
    REFUSED(h, 8, "the library sends no such message to another node");
    h.am.id = UCCS_INNER_OOB;
    REFUSED(h, 8, "the library sends no such message to another node");
    h.am.ring = 0;
    h.am.id = UCCS_INNER_REMOTE;
    REFUSED(h, 8, "the library sends no such message to another node");
    h.am.id = UCCS_INNER_TAGGED;
    world_reset();
    CHECK(!world_deliver(&h, data, 8, false) && (why = world_poll()) && strstr(why, "that is cut off"));
    h.am.context = 0;
    h.am.id = UCCS_AM_PLACE;
    world_reset();
    CHECK(!world_deliver(&h, data, 8, false) && (why = world_poll()) && strstr(why, "that is cut off"));
    h.am.context = PE_SHARED_CONTEXTS;
    REFUSED(h, 8, "its am.context is too large");
    h = from_one(WIRE_AM_DONE);
    h.am_done.thread = PE_SHARED_SENDERS;
    REFUSED(h, 0, "its am_done.thread is too large");
}

static void batches(void)
{
    struct wire_header h = from_one(WIRE_BATCH), entry = to_heap(WIRE_PUT);
    uint64_t bytes = 8;
    memcpy(data, &entry, sizeof entry);
    memcpy(data + sizeof entry, &bytes, sizeof bytes);
    CHECK(taken(h, 80));
    REFUSED(h, 76, "its data is cut off");
    REFUSED(h, 72, "a BATCH that is cut off");
    REFUSED(h, 64, "a BATCH that is cut off");
    REFUSED(h, 40960, "it brings too much data");
    bytes = UINT64_MAX - 3;
    memcpy(data + sizeof entry, &bytes, sizeof bytes);
    REFUSED(h, 80, "a BATCH that is cut off");
    entry.from = 2;
    bytes = 8;
    memcpy(data, &entry, sizeof entry);
    memcpy(data + sizeof entry, &bytes, sizeof bytes);
    REFUSED(h, 80, "of PE 2");
    entry = to_heap(WIRE_PUT);
    entry.worker = 1; /* another one than the batch's */
    memcpy(data, &entry, sizeof entry);
    REFUSED(h, 80, "of PE 1, worker 1");
    bytes = 0;
    entry = to_heap(WIRE_PUT);
    memcpy(data, &entry, sizeof entry);
    memcpy(data + sizeof entry, &bytes, sizeof bytes);
    CHECK(taken(h, 72)); /* it ends with its head */
    entry = from_one(WIRE_BATCH);
    memcpy(data, &entry, sizeof entry);
    REFUSED(h, 80, "with a message of kind");
    memset(data, 0, 80);
}

/* A put that brings the handle of a counter that is gone, whose slot has had 20,000 others since: more lives than 16 bits tell. */
static void outlived(void)
{
    struct wire_header h = to_heap(WIRE_PUT);
    uccs_counter counter = uccs_counter_create();
    const uccs_counter old = counter;
    for (int i = 0; i < 20000; i++) {
        uccs_counter_clear(counter);
        uccs_counter_release(counter);
        counter = uccs_counter_create();
    }
    const struct uccs_counter_line *line = uccs_counter_mine(counter);
    CHECK(uccs_counter_mine(old) == line);
    const uint64_t errors = line->errors;
    h.put.what = PROTO_NOTIFY_COUNT;
    h.put.weight = 1;
    h.put.counter = counter;
    CHECK(taken(h, 8) && line->count == 1 && line->errors == errors);
    h.put.counter = old;
    CHECK(taken(h, 8) && line->count == 1 && line->errors == errors + 1);
}

static void hellos(void)
{
    struct wire_header h = from_one(WIRE_HELLO);
    REFUSED(h, 16, "the service worker says none");
    h.worker = 3;
    CHECK(taken(h, 16));
    why = world_deliver(&h, data, 16, false);
    CHECK(why && strstr(why, "PE 1 says hello twice for worker 3"));
    REFUSED(h, 0, "it has no address");
    REFUSED(h, PROTO_ADDRESS + 1, "it brings too much data");
}

int main(void)
{
    world_open();
    anybody();
    neighbours();
    places();
    rows();
    notices();
    blocks();
    notices_behind_data();
    asks();
    tokens();
    keys();
    answers();
    messages();
    batches();
    outlived();
    hellos();
    _exit(0);
}
