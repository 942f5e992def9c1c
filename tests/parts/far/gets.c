/* What gets and atomics on memory of another node hand to the links: the message in full, on which lane and track, what waits for its
 * answer, and what the target does behind it. */
#include "unit/check.h"

#include "uccs/far/inner.h"

#include <string.h>

/* --- What get.c calls */

static struct link_lane *const lane = (struct link_lane *)0x1000;
static struct link_track *const track = (struct link_track *)0x2000;
static struct uccs_far_lanes on = {0};
static struct uccs_request object, local;
static uccs_request_handle handle;

static char calls[16];              /* a letter for each: ask, await, count, issue, room, later */
static struct link_message message; /* the last one */
static struct far_ask asked, *kept; /* the ask as it was sent; what outlives the call */
static struct far_ask later_ask;
static int sent_to;
static bool fails;
static uint64_t answer;
static enum far_operation asked_operation;
static uint32_t asked_segment;
static size_t asked_bytes;
static enum link_way way;
static struct uccs_far_with noticed;
static const struct uccs_far_with *noticed_at;
static uccs_counter counted;

static void note(char call)
{
    const size_t bytes = strlen(calls);
    CHECK(bytes + 1 < sizeof calls);
    calls[bytes] = call;
}

struct link_lane *link_lane_of(struct uccs_far_lanes *lanes)
{
    CHECK(lanes == &on);
    return lane;
}

void link_ask_send(struct link_lane *at, int pe, const struct link_message *what, struct link_ask *ask)
{
    CHECK(at == lane);
    note('a');
    message = *what;
    sent_to = pe;
    asked = *(struct far_ask *)ask;
    kept = (struct far_ask *)ask;
}

/* The answer comes. */
void link_await(struct link_lane *at, const uint32_t *flag)
{
    CHECK(at == lane && flag == kept->ask.flag && *flag == 0);
    note('w');
    kept->ask.failed = fails;
    if (message.header.kind == LINK_AMO && !fails)
        memcpy(kept->dest, &answer, sizeof answer);
}

void link_make_room(struct link_lane *at)
{
    CHECK(at == lane);
    note('r');
}

void link_issue(struct link_lane *at, int pe, const struct link_message *what)
{
    CHECK(at == lane);
    note('i');
    message = *what;
    sent_to = pe;
}

enum link_way far_way(enum far_operation operation, uint32_t segment, size_t bytes)
{
    asked_operation = operation;
    asked_segment = segment;
    asked_bytes = bytes;
    return way;
}

uint8_t far_notice_behind(struct link_message *what, const struct uccs_far_with *with)
{
    CHECK(what->header.kind == LINK_GET || what->header.kind == LINK_AMO);
    noticed = *with;
    noticed_at = with;
    return 2;
}

struct far_ask *far_ask_later(const struct far_ask *what, uccs_request_handle *request)
{
    CHECK(request == &handle);
    note('l');
    later_ask = *what;
    return &later_ask;
}

struct uccs_request *far_request_of(uccs_request_handle *request)
{
    return request ? &object : NULL;
}

void uccs_far_count(struct uccs_far_lanes *lanes, int pe, uccs_counter counter, int64_t weight)
{
    CHECK(lanes == &on && pe == 7 && weight == 1);
    note('c');
    counted = counter;
}

#include "uccs/far/get.c"

static const struct uccs_far_place place = {FAR_REGION, UINT64_C(0x123456789a), UINT64_C(0x1122334455667788)};
static const struct uccs_far_blocks four = {24, 4, UINT64_C(1) << 33, -48};
static char dest[128];

static void begin(void)
{
    memset(calls, 0, sizeof calls);
    memset(&message, 0xA5, sizeof message);
    noticed_at = NULL;
    fails = false;
    way = LINK_DIRECT;
    on.track = track;
    handle = NULL;
    counted = 0;
}

/* Nothing is in a message but what a test names. */
static bool message_is(struct link_message wanted)
{
    return memcmp(&message.header, &wanted.header, sizeof wanted.header) == 0 && !message.data && !message.bytes &&
           !message.flag && !message.buffer && !message.left && !message.cookie && message.request == wanted.request &&
           !message.local && message.track == wanted.track && message.into == wanted.into &&
           message.way == wanted.way && message.ordered == wanted.ordered && message.counts == wanted.counts &&
           message.later == wanted.later;
}

static struct link_message message_of(enum link_kind kind)
{
    struct link_message wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.header.kind = (uint8_t)kind;
    wanted.header.segment = FAR_REGION;
    wanted.header.at.offset = place.offset;
    wanted.header.at.region = place.region;
    wanted.track = track;
    return wanted;
}

static struct link_message get_of(size_t bytes)
{
    struct link_message wanted = message_of(LINK_GET);
    wanted.header.get.bytes = bytes;
    wanted.into = dest;
    return wanted;
}

static struct link_message blocks_of(bool ordered)
{
    struct link_message wanted = message_of(LINK_GET_BLOCKS);
    wanted.header.get_blocks.block = four.block;
    wanted.header.get_blocks.count = four.count;
    wanted.header.get_blocks.stride = four.there;
    wanted.later = true;
    wanted.ordered = ordered;
    return wanted;
}

static struct link_message amo_of(enum uccs_atomic what, size_t size, uint64_t operand, uint64_t compare)
{
    struct link_message wanted = message_of(LINK_AMO);
    wanted.header.amo.operand = operand;
    wanted.header.amo.compare = compare;
    wanted.header.amo.what = (uint8_t)what;
    wanted.header.amo.size = (uint8_t)size;
    wanted.counts = true;
    return wanted;
}

static bool ask_is(size_t bytes, void *to, bool waits, struct uccs_request *with)
{
    return asked.dest == to && asked.ask.bytes == bytes && (asked.ask.flag != NULL) == waits &&
           asked.ask.local == with && !asked.ask.request && !asked.ask.failed && sent_to == 7;
}

/* --- Gets */

static void waits_for_get(void)
{
    begin();
    CHECK(uccs_far_get(&on, 7, place, dest, 40, 0) && strcmp(calls, "aw") == 0 && ask_is(40, dest, true, NULL));
    CHECK(asked_operation == FAR_GETS && asked_segment == FAR_REGION && asked_bytes == 40 && !noticed_at);
    struct link_message wanted = get_of(40);
    wanted.later = true;
    wanted.way = LINK_DIRECT;
    CHECK(message_is(wanted) && asked.blocks.count == 0);
    begin();
    fails = true;
    CHECK(!uccs_far_get(&on, 7, place, dest, 40, 0) && strcmp(calls, "aw") == 0);
}

/* The target counts a get that goes by message; else a message follows the data. */
static void counts_get(void)
{
    const uccs_counter counter = UINT64_C(0x700000009);
    begin();
    way = LINK_BY_MESSAGE;
    CHECK(uccs_far_get(&on, 7, place, dest, 40, counter) && strcmp(calls, "aw") == 0 && ask_is(40, dest, true, NULL));
    CHECK(asked_operation == FAR_GETS_AND_TELLS && asked_segment == FAR_REGION && asked_bytes == 40);
    CHECK(noticed.what == FAR_COUNT && noticed.value == counter && noticed.weight == 1 && !noticed.also);
    struct link_message wanted = get_of(40);
    wanted.header.get.notices = 2;
    wanted.way = LINK_BY_MESSAGE;
    CHECK(message_is(wanted));
    begin();
    CHECK(uccs_far_get(&on, 7, place, dest, 40, counter) && strcmp(calls, "awc") == 0 && counted == counter);
    wanted = get_of(40);
    wanted.later = true;
    wanted.way = LINK_DIRECT;
    CHECK(message_is(wanted) && !noticed_at);
    begin();
    fails = true;
    CHECK(!uccs_far_get(&on, 7, place, dest, 40, counter) && strcmp(calls, "aw") == 0);
}

static void starts_get(void)
{
    const struct uccs_far_with with = {.what = FAR_SIGNAL_ADD, .value = 5};
    for (int ordered = 0; ordered < 2; ordered++) {
        begin();
        uccs_far_get_local(&on, 7, place, dest, 99, ordered ? &with : NULL, ordered, &handle, &local);
        CHECK(strcmp(calls, "la") == 0 && kept == &later_ask && ask_is(99, dest, false, &local));
        struct link_message wanted = get_of(99);
        wanted.ordered = ordered;
        wanted.later = !ordered;
        wanted.way = ordered ? LINK_BY_MESSAGE : LINK_DIRECT;
        wanted.header.get.notices = ordered ? 2 : 0;
        CHECK(message_is(wanted) && noticed_at == (ordered ? &with : NULL));
    }
    begin();
    uccs_far_get_nb(&on, 7, place, dest, 99, 0, &handle);
    CHECK(strcmp(calls, "la") == 0 && ask_is(99, dest, false, NULL) && !message.ordered && message.later);
    CHECK(!noticed_at);
    begin();
    on.track = NULL;
    uccs_far_get_nb(&on, 7, place, dest, 99, 11, &handle);
    CHECK(strcmp(calls, "la") == 0 && ask_is(99, dest, false, NULL) && !message.ordered && !message.later);
    CHECK(noticed.what == FAR_COUNT && noticed.value == 11 && noticed.weight == 1 && !message.track);
}

static void gets_blocks(void)
{
    begin();
    CHECK(uccs_far_get_blocks(&on, 7, place, dest, &four) && strcmp(calls, "aw") == 0);
    CHECK(ask_is(96, dest, true, NULL) && message_is(blocks_of(false)));
    CHECK(memcmp(&asked.blocks, &four, sizeof four) == 0);
    begin();
    fails = true;
    CHECK(!uccs_far_get_blocks(&on, 7, place, dest, &four));
    for (int ordered = 0; ordered < 2; ordered++) {
        begin();
        uccs_far_get_blocks_local(&on, 7, place, dest, &four, ordered, &handle, &local);
        CHECK(strcmp(calls, "la") == 0 && ask_is(96, dest, false, &local) && message_is(blocks_of(ordered)));
        CHECK(memcmp(&asked.blocks, &four, sizeof four) == 0 && kept == &later_ask);
    }
    begin();
    uccs_far_get_blocks_nb(&on, 7, place, dest, &four, &handle);
    CHECK(strcmp(calls, "la") == 0 && ask_is(96, dest, false, NULL) && message_is(blocks_of(false)));
}

/* --- Atomics */

enum { VALUE = 0x7654321, COMPARED = 0x1234567 };
#define WIDE (UINT64_C(3) << 40)

static void fetches(void)
{
    uint64_t old = 1;
    begin();
    answer = WIDE | 5;
    CHECK(uccs_far_amo_fetch(&on, 7, UCCS_ATOMIC_CSWAP, place, 8, WIDE + VALUE, WIDE + COMPARED, &old));
    CHECK(old == (WIDE | 5) && strcmp(calls, "aw") == 0 && ask_is(8, &old, true, NULL));
    CHECK(message_is(amo_of(UCCS_ATOMIC_CSWAP, 8, WIDE + VALUE, WIDE + COMPARED)) && !noticed_at);
    begin();
    fails = true;
    CHECK(!uccs_far_amo_fetch(&on, 7, UCCS_ATOMIC_ADD, place, 4, VALUE, 0, &old) && old == (WIDE | 5));
    CHECK(message_is(amo_of(UCCS_ATOMIC_ADD, 4, VALUE, 0)) && asked.ask.bytes == 8); /* the word of the caller */
}

static void returns_old(void)
{
    begin();
    answer = WIDE | 6;
    CHECK(uccs_far_amo(&on, 7, UCCS_ATOMIC_CSWAP, place, 8, VALUE, COMPARED) == (WIDE | 6) && strcmp(calls, "aw") == 0);
    CHECK(message_is(amo_of(UCCS_ATOMIC_CSWAP, 8, VALUE, COMPARED)));
    begin();
    CHECK(uccs_far_amo(&on, 7, UCCS_ATOMIC_SET, place, 8, VALUE, COMPARED) == 0 && strcmp(calls, "ri") == 0);
    CHECK(message_is(amo_of(UCCS_ATOMIC_SET, 8, VALUE, 0)) && sent_to == 7); /* it does not fetch */
}

static void starts_atomics(void)
{
    const struct uccs_far_with with = {.what = FAR_SIGNAL_ADD, .value = 5};
    const struct uccs_atomic_op op = {UCCS_ATOMIC_XOR, 4, VALUE, COMPARED};
    for (int told = 0; told < 2; told++) {
        begin();
        uccs_far_amo_local(&on, 7, &op, place, dest, told ? &with : NULL, &handle, &local);
        CHECK(strcmp(calls, "la") == 0 && ask_is(4, dest, false, &local) && noticed_at == (told ? &with : NULL));
        struct link_message wanted = amo_of(UCCS_ATOMIC_XOR, 4, VALUE, COMPARED);
        wanted.later = true;
        wanted.header.amo.notices = told ? 2 : 0;
        CHECK(message_is(wanted) && kept == &later_ask);
    }
    begin();
    uccs_far_amo_nb(&on, 7, UCCS_ATOMIC_CSWAP, place, 8, WIDE + VALUE, WIDE + COMPARED, dest, &handle);
    struct link_message wanted = amo_of(UCCS_ATOMIC_CSWAP, 8, WIDE + VALUE, WIDE + COMPARED);
    wanted.later = true;
    CHECK(strcmp(calls, "la") == 0 && ask_is(8, dest, false, NULL) && message_is(wanted) && !noticed_at);
}

static void posts(void)
{
    const struct uccs_far_with with = {.what = FAR_SIGNAL_ADD, .value = 5};
    for (int later = 0; later < 2; later++)
        for (int tells = 0; tells < 2; tells++) {
            begin();
            uccs_far_amo_post(&on, 7, UCCS_ATOMIC_ADD, place, 8, VALUE, COMPARED, later, tells ? &with : NULL,
                              tells ? &handle : NULL);
            struct link_message wanted = amo_of(UCCS_ATOMIC_ADD, 8, VALUE, COMPARED);
            wanted.later = later;
            wanted.request = tells ? &object : NULL;
            wanted.header.amo.notices = tells ? 2 : 0;
            CHECK(strcmp(calls, "ri") == 0 && message_is(wanted) && sent_to == 7);
            CHECK(noticed_at == (tells ? &with : NULL));
        }
}

int main(void)
{
    waits_for_get();
    counts_get();
    starts_get();
    gets_blocks();
    fetches();
    returns_old();
    starts_atomics();
    posts();
    return 0;
}
