/* What a process does with operations of peers of other nodes on its memory: the bytes that change, the answer that leaves, and what
 * the peer is told of memory that is gone. */
#include "carrier.h"

#include "uccs/object/attach.h"
#include "uccs/object/ticket.h"

static _Alignas(64) char memory[4096], apart[128];
static uint64_t of_cpu, of_locks, of_ranges, gone; /* numbers of regions */
static char data[16384];

/* Locks of elements, in place of object/apply.c: how often one was taken. */
static unsigned locked;
static uint32_t lock_word;

uint32_t *uccs_atomic_lock(int owner, uint64_t address)
{
    CHECK(owner == uccs_core.me && address && !lock_word);
    lock_word = 1;
    locked++;
    return &lock_word;
}

void uccs_atomic_unlock(uint32_t *lock)
{
    CHECK(lock == &lock_word && lock_word);
    lock_word = 0;
}

uint64_t uccs_atomic_apply_locked(const struct uccs_atomic_op *op, void *word)
{
    uint32_t *lock = uccs_atomic_lock(uccs_core.me, (uintptr_t)word);
    const uint64_t old = uccs_atomic_apply(op, word);
    uccs_atomic_unlock(lock);
    return old;
}

static uint64_t number_of(const struct uccs_region *region)
{
    return uccs_region_id(region->slot, region->generation);
}

static struct link_header to(enum link_kind kind, uint64_t region, uint64_t offset)
{
    return (struct link_header){.kind = (uint8_t)kind,
                                .from = 1,
                                .segment = FAR_REGION,
                                .at = {.offset = offset, .region = region}};
}

/* Brings a message, with its data, and moves the answers on. */
static void bring(const struct link_header *h, const void *from, size_t bytes)
{
    carrier_bring(link_service(), h, from, bytes);
    (void)link_poll(link_service());
}

static const struct left *answer(enum link_kind kind, uint64_t asker)
{
    const struct left *left = carrier_last();
    CHECK(left->what == MESSAGE && left->header.kind == kind && left->pe == 1 && left->header.answer.asker == asker);
    return left;
}

static const struct link_origin *origin(void)
{
    return &link_service()->peers[1]->origin;
}

static void make_memory(void)
{
    struct uccs_attached *table = uccs_attached_create();
    CHECK(table && uccs_attached_add(table, memory + 1024, 256) == UCCS_OK);
    CHECK(uccs_attached_add(table, memory + 2048, 256) == UCCS_OK && uccs_attached_add(table, apart, 64) == UCCS_OK);
    of_cpu = number_of(uccs_region_describe(memory, sizeof memory, UCCS_DOMAIN_CPU));
    of_locks = number_of(uccs_region_describe(memory, sizeof memory, UCCS_DOMAIN_LOCKED));
    of_ranges = number_of(uccs_region_describe_dynamic(table));
    struct uccs_region *released = uccs_region_describe(memory, sizeof memory, UCCS_DOMAIN_CPU);
    gone = number_of(released);
    free(uccs_region_end(released->slot));
}

static bool all_are(const char *at, char value, size_t bytes)
{
    size_t same = 0;
    while (same < bytes && at[same] == value)
        same++;
    return same == bytes;
}

/* Data of every size at every place within two words: those bytes change, and no others. */
static void plain_puts(void)
{
    carrier_reset();
    for (size_t at = 0; at < 9; at++)
        for (size_t bytes = 0; bytes < 18; bytes++) {
            struct link_header h = to(LINK_PUT, of_cpu, 64 + at);
            memset(memory + 32, 'o', 128);
            memset(data, 'n', bytes);
            bring(&h, data, bytes);
            CHECK(all_are(memory + 32, 'o', 32 + at) && all_are(memory + 64 + at, 'n', bytes));
            CHECK(all_are(memory + 64 + at + bytes, 'o', 64));
        }
    CHECK(origin()->applied == 9 * 18 && carrier.count == 0 && !origin()->refused);
    struct link_header h = to(LINK_PARCEL, of_cpu, 64);
    memset(data, 'p', 8);
    bring(&h, data, 8);
    CHECK(all_are(memory + 64, 'p', 8) && origin()->applied == 9 * 18);
}

/* A signal where each domain keeps it; an old counter; memory that is gone. */
static void notices(void)
{
    static const enum uccs_far_what what[] = {FAR_SIGNAL_SET, FAR_SIGNAL_ADD};
    const uint64_t regions[] = {of_cpu, of_locks, 0};
    uint64_t *words[] = {(uint64_t *)memory, (uint64_t *)memory, (uint64_t *)(void *)world_heap};
    carrier_reset();
    for (int i = 0; i < 6; i++) {
        struct link_header h = to(LINK_PUT, of_cpu, 64);
        const uint64_t region = regions[i / 2];
        words[i / 2][2] = 100;
        h.put.what = (uint8_t)what[i % 2];
        h.put.signal_segment = region ? FAR_REGION : FAR_HEAP;
        h.put.signal_region = region;
        h.put.signal_offset = region ? 16 : in_heap(16).offset;
        h.put.signal_value = 7;
        locked = 0;
        bring(&h, data, 4);
        CHECK(locked == (region == of_locks));
        CHECK(words[i / 2][2] == (what[i % 2] == FAR_SIGNAL_ADD ? 107 : 7));
    }
    CHECK(!origin()->refused && origin()->applied == 6);
    struct link_header h = to(LINK_PUT, of_cpu, 64);
    h.put.what = FAR_SIGNAL_SET;
    h.put.signal_segment = FAR_REGION;
    h.put.signal_region = gone;
    h.number = 0x8123;
    bring(&h, data, 4);
    CHECK(origin()->refused == 1 && origin()->applied == 7);
    uccs_counter counter = uccs_counter_create();
    const struct uccs_counter_line *line = uccs_counter_mine(counter);
    const int64_t count = line->count;
    const uint64_t errors = line->errors;
    h.put = (struct link_notice){.what = FAR_COUNT, .counter = counter, .weight = 3};
    bring(&h, data, 4);
    CHECK(line->count == count + 3 && line->errors == errors);
    h.put.what = FAR_LATE;
    bring(&h, data, 4);
    CHECK(line->count == count + 3 && line->errors == errors + 1);
    uccs_counter_release(counter);
}

/* Blocks forwards, backwards, in memory with gaps between them; with a notice that follows them. */
static void blocks(void)
{
    carrier_reset();
    for (int way = -1; way <= 1; way += 2) {
        struct link_header h = to(LINK_PUT_BLOCKS, of_cpu, way < 0 ? 256 : 64);
        memset(memory, 'o', 512);
        for (int i = 0; i < 4; i++)
            memset(data + 8 * i, 'a' + i, 8);
        h.put_blocks.block = 8;
        h.put_blocks.stride = 64 * way;
        bring(&h, data, 32);
        for (int i = 0; i < 4; i++) {
            const char *block = memory + (way < 0 ? 256 - 64 * i : 64 + 64 * i);
            CHECK(all_are(block, (char)('a' + i), 8) && block[-1] == 'o' && block[8] == 'o');
        }
        h.kind = LINK_GET_BLOCKS;
        h.get_blocks.asker = 5;
        h.get_blocks.block = 8;
        h.get_blocks.count = 4;
        h.get_blocks.stride = 64 * way;
        bring(&h, 0, 0);
        CHECK(answer(LINK_DATA, 5)->bytes == 32 && memcmp(carrier_last()->data, data, 32) == 0);
    }
    struct link_header h = to(LINK_PUT_BLOCKS, of_ranges, (uintptr_t)memory + 1024);
    h.put_blocks.block = 16;
    h.put_blocks.stride = 1024;
    memset(memory + 1024, 'o', 2048);
    bring(&h, data, 32); /* the gap is no memory of the region */
    CHECK(memcmp(memory + 1024, data, 16) == 0 && memcmp(memory + 2048, data + 16, 16) == 0 && memory[1040] == 'o');
    CHECK(!origin()->refused && origin()->applied == 3);
    h.kind = LINK_GET_BLOCKS;
    h.get_blocks.asker = 6;
    h.get_blocks.block = 16;
    h.get_blocks.count = 2;
    h.get_blocks.stride = 1024;
    bring(&h, 0, 0);
    CHECK(answer(LINK_DATA, 6)->bytes == 32 && memcmp(carrier_last()->data, data, 32) == 0);
    h.get_blocks.stride = 512; /* the second one is in the gap; it is the last */
    bring(&h, 0, 0);
    CHECK(answer(LINK_DATA, 6)->bytes == 0 && carrier_last()->header.answer.failed == 1);
    h.get_blocks.count = 3; /* the last one is there */
    bring(&h, 0, 0);
    CHECK(answer(LINK_DATA, 6)->bytes == 0 && carrier_last()->header.answer.failed == 1);
    h = to(LINK_PUT_BLOCKS, of_ranges, (uintptr_t)memory + 1024);
    h.put_blocks.block = 16;
    h.put_blocks.stride = 512;
    bring(&h, data, 48);
    CHECK(origin()->refused == 1 && origin()->applied == 4 && memory[1536] == 'o');
}

/* The last byte of the last block is within the memory, or nothing is done. */
static void ends_of_blocks(void)
{
    for (int kind = 0; kind < 2; kind++)
        for (uint64_t past = 0; past < 2; past++) {
            struct link_header h = to(kind ? LINK_GET_BLOCKS : LINK_PUT_BLOCKS, of_cpu, sizeof memory - 72 + past);
            h.put_blocks.block = 8; /* of a get, the asker */
            h.put_blocks.stride = 64;
            if (kind) {
                h.get_blocks.block = 8;
                h.get_blocks.stride = 64;
                h.get_blocks.count = 2;
            }
            carrier_reset();
            const char *why = carrier_try(link_service(), &h, kind ? 0 : data, kind ? 0 : 16, false);
            CHECK(!past == !why && (!why || strstr(why, "reaches beyond the memory of PE 0")));
            CHECK(origin()->applied == (!kind && !past));
        }
    carrier_reset();
}

static void gets(void)
{
    carrier_reset();
    for (int i = 0; i < 256; i++)
        memory[i] = (char)i;
    struct link_header h = to(LINK_GET, of_cpu, 3);
    h.get.asker = 9;
    h.get.bytes = 100;
    bring(&h, 0, 0);
    CHECK(answer(LINK_DATA, 9)->bytes == 100 && memcmp(carrier_last()->data, memory + 3, 100) == 0);
    CHECK(!carrier_last()->header.answer.failed && !carrier_last()->header.answer.applied && !origin()->applied);
    const struct link_notice notice = {.what = FAR_SIGNAL_ADD,
                                       .signal_segment = FAR_HEAP,
                                       .signal_offset = in_heap(0).offset,
                                       .signal_value = 4};
    h.get.notices = 1;
    *(uint64_t *)(void *)world_heap = 0;
    carrier.sends = TRANSPORT_PENDING;
    h.get.bytes = 9000;
    h.at.offset = 0;
    h.segment = FAR_HEAP;
    h.at.offset = in_heap(0).offset - (in_heap(0).offset >= 8000 ? 8000 : 0);
    bring(&h, &notice, sizeof notice);
    CHECK(answer(LINK_DATA, 9)->bytes == 9000 && *(uint64_t *)(void *)world_heap == 0);
    carrier_end(carrier_last()->token, false); /* the data has left */
    CHECK(*(uint64_t *)(void *)world_heap == 4);
    carrier.sends = TRANSPORT_DONE;
    h = to(LINK_GET, gone, 0);
    h.get.asker = 8;
    h.get.bytes = 8;
    h.get.notices = 1;
    bring(&h, &notice, sizeof notice);
    CHECK(answer(LINK_DATA, 8)->bytes == 0 && carrier_last()->header.answer.failed == 1);
    CHECK(*(uint64_t *)(void *)world_heap == 4 && !origin()->refused);
}

/* Atomics of both sizes, in each domain, with and without an answer; what the answer tells. */
static void atomics(void)
{
    uint64_t *word = (uint64_t *)memory;
    carrier_reset();
    for (int i = 0; i < 8; i++) {
        struct link_header h = to(LINK_AMO, i & 4 ? of_locks : of_cpu, 8);
        word[1] = UINT64_C(0x500000004);
        h.amo.what = UCCS_ATOMIC_ADD;
        h.amo.operand = 3;
        h.amo.size = i & 1 ? 4 : 8;
        h.amo.asker = i & 2 ? 7 : 0;
        const unsigned before = carrier.count;
        locked = 0;
        bring(&h, 0, 0);
        CHECK(locked == (i >= 4));
        CHECK(word[1] == UINT64_C(0x500000007) && carrier.count == before + (i >> 1 & 1));
        if (i & 2)
            CHECK(answer(LINK_AMO_ANSWER, 7)->header.answer.old == (i & 1 ? 4 : UINT64_C(0x500000004)) &&
                  carrier_last()->header.answer.applied == (uint64_t)i + 1 && !carrier_last()->header.answer.failed);
    }
    CHECK(origin()->applied == 8 && !origin()->refused);
    const struct link_notice notice = {.what = FAR_SIGNAL_SET,
                                       .signal_segment = FAR_HEAP,
                                       .signal_offset = in_heap(8).offset,
                                       .signal_value = 44};
    struct link_header h = to(LINK_AMO, of_cpu, 8);
    h.amo.what = UCCS_ATOMIC_SWAP;
    h.amo.size = 8;
    h.amo.notices = 1;
    bring(&h, &notice, sizeof notice);
    CHECK(word[1] == 0 && ((uint64_t *)(void *)world_heap)[1] == 44);
    h.at.region = gone; /* with an answer, that tells it; else the next flush does */
    h.amo.notices = 0;
    h.amo.asker = 6;
    bring(&h, 0, 0);
    CHECK(answer(LINK_AMO_ANSWER, 6)->header.answer.failed == 1 && carrier_last()->header.answer.applied == 0);
    CHECK(!origin()->refused && origin()->applied == 10);
    h.amo.asker = 0;
    bring(&h, 0, 0);
    CHECK(origin()->refused == 1 && origin()->applied == 11);
    h.at.region = of_cpu;
    h.amo.asker = 6;
    bring(&h, 0, 0);
    CHECK(answer(LINK_AMO_ANSWER, 6)->header.answer.applied == 0); /* once one was refused, only a flush tells */
}

static void flags(void)
{
    const uint64_t row = (uint64_t)NODE_GROUP_LINES * CACHE_LINE;
    struct link_header h = {.kind = LINK_FLAG, .from = 1, .segment = FAR_ROWS, .at.offset = 3 * row + 64};
    carrier_reset();
    h.flag.value = 99;
    uint64_t *word = (uint64_t *)(void *)(uccs_core.groups + 3 * uccs_core.pes * row + 64);
    *word = 0;
    bring(&h, 0, 0);
    CHECK(*word == 99 && carrier.count == 0);
    *word = 0;
}

/* Changes: all the elements, in ranges of several homes, with the old values for who wants them. */
static void changes(void)
{
    int32_t *numbers = (int32_t *)(void *)(memory + 1024), operand[64];
    carrier_reset();
    for (int domain = 0; domain < 3; domain++) {
        struct link_header h = to(LINK_CHANGE, domain == 0 ? of_cpu : domain == 1 ? of_locks : of_ranges, 1024);
        if (domain == 2)
            h.at.offset = (uintptr_t)memory + 1024;
        for (int i = 0; i < 64; i++) {
            numbers[i] = 100 * i;
            operand[i] = i;
        }
        numbers[64] = 5;
        h.change.n = 64;
        h.change.type = UCCS_INT32;
        h.change.how = UCCS_SUM;
        h.change.asker = 3;
        locked = 0;
        bring(&h, operand, sizeof operand);
        CHECK((domain == 2 || (locked != 0) == (domain == 1)) && answer(LINK_DATA, 3)->bytes == sizeof operand &&
              !carrier_last()->header.answer.failed);
        CHECK(carrier_last()->header.answer.applied == 2 * (uint64_t)domain + 1);
        const int32_t *old = (const int32_t *)(void *)carrier_last()->data;
        for (int i = 0; i < 64; i++)
            CHECK(numbers[i] == 101 * i && old[i] == 100 * i);
        h.change.asker = 0;
        const unsigned before = carrier.count;
        bring(&h, operand, sizeof operand);
        CHECK(carrier.count == before && numbers[63] == 102 * 63 && numbers[1] == 102 && numbers[64] == 5);
    }
    struct link_header h = to(LINK_CHANGE, gone, 0);
    h.change.n = 1;
    h.change.type = UCCS_INT32;
    h.change.how = UCCS_SUM;
    h.change.asker = 3;
    bring(&h, operand, 4);
    CHECK(answer(LINK_DATA, 3)->header.answer.failed == 1 && carrier_last()->header.answer.applied == 0);
    CHECK(!origin()->refused && carrier_last()->bytes == 0);
    h.change.asker = 0;
    bring(&h, operand, 4);
    CHECK(origin()->refused == 1 && origin()->applied == 8);
}

/* --- Memory that is released */

static void importers(void)
{
    struct uccs_region *region = uccs_region_describe(memory, 64, UCCS_DOMAIN_CPU);
    struct link_header h = {.kind = LINK_IMPORT, .from = 1, .at.region = number_of(region)};
    carrier_reset();
    h.region.asker = 4;
    bring(&h, 0, 0);
    CHECK(!answer(LINK_AMO_ANSWER, 4)->header.answer.failed);
    h.at.region = gone;
    bring(&h, 0, 0);
    CHECK(answer(LINK_AMO_ANSWER, 4)->header.answer.failed == 1);
    uint64_t *pes = uccs_region_end(region->slot);
    CHECK(pes && pes[0] == 2);
    free(pes);
    h.kind = LINK_GONE;
    bring(&h, 0, 0);
    CHECK(!answer(LINK_AMO_ANSWER, 4)->header.answer.failed && carrier_last()->header.answer.old == 0);
}

static int rounds;

static void know(struct link_lane *lane)
{
    (void)lane;
    struct left *left = carrier_last();
    if (left->what != MESSAGE || left->header.kind != LINK_GONE || left->key)
        return;
    struct link_header h = carrier_answer(left, LINK_AMO_ANSWER);
    const struct transport_message message = {.header = &h, .header_bytes = sizeof h};
    h.answer.old = rounds++ < 2; /* at first its network still accesses the memory */
    left->key = left;
    link_arrived(link_service(), &message);
}

static void tell_importers(void)
{
    const uint64_t importers = 4, none = 0;
    carrier_reset();
    rounds = 0;
    uccs_far_memory_gone(of_cpu, &none);
    CHECK(carrier.count == 0);
    carrier.look = know;
    uccs_far_memory_gone(of_cpu, &importers);
    CHECK(rounds == 3 && carrier.count == 3);
    for (unsigned i = 0; i < 3; i++)
        CHECK(left_is(i, LINK_GONE, 2) && carrier.left[i].header.at.region == of_cpu);
}

int main(void)
{
    carrier_open();
    make_memory();
    plain_puts();
    notices();
    blocks();
    ends_of_blocks();
    gets();
    atomics();
    flags();
    changes();
    importers();
    tell_importers();
    _exit(0);
}
