/* What a process sends to others of other nodes: which message, when, with which others, in which order, and what it says that must
 * come before it. The network carries nothing, so each message is looked at as it leaves. */
#include "carrier.h"

#include "base/clock.h"

static uint64_t now; /* nanoseconds */

static uint64_t test_clock(void)
{
    return now;
}

#define clock_nanoseconds test_clock
#include "uccs/link/habit.c"

static char data[65536];
static uint32_t held;

static void put(struct uccs_far_lanes *on, int pe, size_t at, size_t bytes)
{
    uccs_far_put_nb(on, pe, in_heap(at), data, bytes, 0, 0);
}

static void poll_service(void)
{
    (void)link_poll(link_service());
}

/* The first message connects. A small put waits for the next look, and leaves as what it is. */
static void alone(void)
{
    carrier_reset();
    memset(data, 'd', sizeof data);
    put(0, 1, 24, 5);
    CHECK(carrier.count == 0 && carrier.connects == 1 && carrier_peers[0].pe == 1);
    CHECK(carrier_peers[0].lane == link_service() && carrier_peers[0].bytes == 0);
    memset(data, 'x', 5); /* it has been copied */
    poll_service();
    CHECK(carrier.count == 1 && carrier.parcels == 1 && left_is(0, LINK_PUT, 1));
    const struct left *left = &carrier.left[0];
    CHECK(left->lane == 0 && left->bytes == 5 && memcmp(left->data, "ddddd", 5) == 0);
    CHECK(left->header.from == 0 && left->header.lane == 0 && left->header.after == 0 && left->header.number == 0);
    CHECK(left->header.segment == FAR_HEAP && left->header.at.offset == in_heap(24).offset);
    CHECK(left->header.put.what == FAR_NOTHING);
    put(0, 1, 0, 0);
    put(0, 2, 0, 0);
    CHECK(carrier.connects == 2 && carrier.count == 1);
    poll_service();
    CHECK(carrier.count == 3 && carrier.left[1].bytes == 0 && carrier.parcels == 3);
    poll_service();
    CHECK(carrier.count == 3);
}

/* A PE's number takes up to 24 bits. */
static void wide(void)
{
    const int me = uccs_core.me;
    carrier_reset();
    uccs_core.me = 0x123456;
    put(0, 1, 0, 8);
    struct link_header h = {.kind = LINK_FLUSH, .from = 1, .flush.asker = 1};
    carrier_bring(link_service(), &h, 0, 0);
    poll_service();
    CHECK(carrier.count == 2 && carrier.left[0].header.from == 0x123456 && carrier.left[1].header.from == 0x123456);
    uccs_core.me = me;
}

/* Small messages to a peer leave together, in order, each padded to whole words; a batch is never larger than its bound. */
static void together(void)
{
    static const size_t sizes[] = {1, 8, 0, 9, 8192};
    carrier_reset();
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    for (size_t i = 0; i < 5; i++)
        uccs_far_put_nb(0, 1, in_heap(i), data + i, sizes[i], 0, 0);
    put(0, 2, 0, 3);
    CHECK(carrier.count == 0);
    poll_service();
    CHECK(carrier.count == 6 && carrier.parcels == 2);
    unsigned found = 0;
    for (unsigned i = 0; i < 6; i++) {
        const struct left *left = &carrier.left[i];
        if (left->pe == 2)
            continue;
        CHECK(left_is(i, LINK_PUT, 1) && left->header.at.offset == in_heap(found).offset);
        CHECK(left->bytes == sizes[found] && memcmp(left->data, data + found, left->bytes) == 0);
        found++;
    }
    CHECK(found == 5);
}

static void full(void)
{
    enum { HEAD = 72 };
    carrier_reset();
    for (int i = 0; i < 3; i++)
        put(0, 1, 0, 8192);
    put(0, 1, 0, LINK_BATCH_BYTES - 3 * (HEAD + 8192) - HEAD);
    CHECK(carrier.count == 0);
    put(0, 1, 0, 0);
    CHECK(carrier.count == 4 && carrier.parcels == 1);
    poll_service();
    CHECK(carrier.count == 5 && carrier.parcels == 2);
    for (int i = 0; i < 3; i++)
        put(0, 1, 0, 8192);
    put(0, 1, 0, LINK_BATCH_BYTES - 3 * (HEAD + 8192) - HEAD + 1);
    CHECK(carrier.count == 8 && carrier.parcels == 3);
    poll_service();
    CHECK(carrier.count == 9 && carrier.parcels == 4);
}

/* A long message leaves at once, behind the small ones that wait; so does one that somebody waits for. */
static void at_once(void)
{
    carrier_reset();
    put(0, 1, 0, 8193);
    CHECK(carrier.count == 1 && carrier.parcels == 1 && carrier.left[0].bytes == 8193);
    put(0, 1, 0, 8);
    put(0, 1, 0, 8193);
    CHECK(carrier.count == 3 && carrier.parcels == 3 && carrier.left[1].bytes == 8 && carrier.left[2].bytes == 8193);
    put(0, 1, 0, 8);
    uccs_far_put(0, 1, in_heap(0), data, 16, 0, 0);
    CHECK(carrier.count == 5 && carrier.parcels == 4 && carrier.left[3].bytes == 8 && carrier.left[4].bytes == 16);
    put(0, 1, 0, 8);
    uccs_far_put(0, 1, in_heap(0), data, 8192, 0, 0);
    CHECK(carrier.count == 7 && carrier.parcels == 5);
    put(0, 1, 0, 8);
    uccs_far_put(0, 1, in_heap(0), data, 8193, 0, 0);
    CHECK(carrier.count == 9 && carrier.parcels == 7);
    uccs_far_put(0, 1, in_heap(0), data, 8, 0, 0);
    CHECK(carrier.count == 10 && carrier.parcels == 8);
    put(0, 1, 0, 8);
    put(0, 2, 0, 8);
    uccs_far_put(0, 2, in_heap(0), data, 8, 0, 0); /* takes along what goes to the same peer */
    CHECK(carrier.count == 12 && carrier.parcels == 9);
    poll_service();
    CHECK(carrier.count == 13 && carrier.left[12].pe == 1);
}

/* At most 64 boxes hold messages: the answers to lanes of two PEs. */
static void boxes(void)
{
    carrier_reset();
    struct link_header h = {.kind = LINK_HELLO};
    for (unsigned i = 0; i < 66; i++) {
        h.from = 1 + i / 33;
        h.lane = 1 + i % 33;
        carrier_bring(link_service(), &h, "address", 7);
        CHECK(carrier.connects == i + 1 && carrier_peers[i].pe == (int)h.from && carrier_peers[i].bytes == 7);
        CHECK(memcmp(carrier_peers[i].address, "address", 7) == 0);
    }
    h.kind = LINK_GET;
    h.segment = FAR_HEAP;
    h.at.offset = in_heap(0).offset;
    h.get.bytes = 8;
    for (unsigned i = 0; i < 66; i++) {
        h.from = 1 + i / 33;
        h.lane = 1 + i % 33;
        h.asker = i + 1;
        carrier_bring(link_service(), &h, 0, 0);
        CHECK(link_service()->open == (i < 64 ? i + 1 : i - 63) && carrier.count == (i < 64 ? 0 : 64));
    }
    poll_service();
    CHECK(carrier.count == 66 && carrier.parcels == 66 && link_service()->open == 0 && !link_service()->boxes);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 66; i++) {
        const struct left *left = &carrier.left[i];
        CHECK(left->header.kind == LINK_DATA && left->header.from == 0 && left->header.lane == 0 && left->bytes == 8);
        CHECK(left->pe == (left->header.answer.asker > 33 ? 2 : 1) && left->header.answer.failed == 0);
        sum += left->header.answer.asker;
    }
    CHECK(sum == 66 * 67 / 2);
}

/* A lane that issues says hello first, with its address; then it is an operation like any other, which the target counts. */
static void hello(void)
{
    struct uccs_far_lanes on = {0};
    carrier_reset();
    put(&on, 1, 0, 8);
    CHECK(on.own == &link_lanes[3] && on.used == 8);
    CHECK(carrier.count == 1 && left_is(0, LINK_HELLO, 1) && carrier.left[0].bytes == 16);
    CHECK(carrier.left[0].header.lane == 3 && carrier.left[0].header.from == 0 && carrier.left[0].header.after == 0);
    CHECK(carrier.left[0].data[0] == 'd' && carrier.left[0].data[15] == 'd');
    poll_service();
    CHECK(carrier.count == 1);
    (void)link_poll(on.own);
    CHECK(carrier.count == 2 && left_is(1, LINK_PUT, 1) && carrier.left[1].header.lane == 3);
    CHECK(carrier.left[1].lane == 3 && carrier.left[1].header.after == 0);
    uccs_far_fence(&on);
    put(&on, 1, 0, 8);
    put(&on, 2, 0, 8);
    put(&on, 2, 0, 8);
    uccs_far_fence(&on);
    put(&on, 2, 0, 8);
    (void)link_poll(on.own);
    CHECK(carrier.count == 7 && carrier.connects == 2);
    uint64_t after = 0, first = 0;
    for (unsigned i = 2; i < 7; i++) {
        if (carrier.left[i].pe == 1)
            first = carrier.left[i].header.after;
        else if (carrier.left[i].header.kind == LINK_PUT)
            after = carrier.left[i].header.after;
    }
    CHECK(first == 2 && after == 3);
}

/* What a fence puts before a message: all that was issued to that peer before it, on that lane. */
static void fences(void)
{
    static const uint64_t after[] = {0, 0, 2, 2, 4};
    carrier_reset();
    for (int i = 0; i < 5; i++) {
        uccs_far_put(0, 1, in_heap(0), data, 8, 0, 0);
        if (i % 2)
            uccs_far_fence(0);
        CHECK(carrier.count == (unsigned)i + 1 && carrier.left[i].header.after == after[i]);
    }
    uccs_far_put(0, 2, in_heap(0), data, 8, 0, 0);
    CHECK(carrier_last()->pe == 2 && carrier_last()->header.after == 0);
    uccs_far_fence_all();
    uccs_far_put(0, 2, in_heap(0), data, 8, 0, 0);
    CHECK(carrier_last()->header.after == 1);
    uccs_far_flag(2, 64, 7, false);
    CHECK(carrier_last()->header.kind == LINK_FLAG && carrier_last()->header.after == 0);
    CHECK(carrier_last()->header.segment == FAR_ROWS && carrier_last()->header.at.offset == 64);
    CHECK(carrier_last()->header.flag.value == 7 && carrier_last()->bytes == 0);
    CHECK(link_service()->peers[2]->issued.messages == 2); /* a flag is no operation */
}

/* --- Who waits for what */

static void free_source(void)
{
    const struct uccs_far_parcel parcel = {.to = in_heap(8),
                                           .data = data,
                                           .bytes = 9000,
                                           .with = {.what = FAR_SIGNAL_SET, .place = in_heap(64), .value = 5}};
    carrier_reset();
    carrier.sends = TRANSPORT_PENDING;
    uccs_far_parcel(1, &parcel, &held);
    CHECK(held == 1 && left_is(0, LINK_PARCEL, 1) && carrier.left[0].bytes == 9000 && link_service()->sending == 1);
    const struct link_header *h = &carrier.left[0].header;
    CHECK(h->put.what == FAR_SIGNAL_SET && h->put.signal_segment == FAR_HEAP && h->put.signal_value == 5);
    CHECK(h->put.signal_offset == in_heap(64).offset && h->at.offset == in_heap(8).offset && h->after == 0);
    CHECK(!link_service()->peers[1]->issued.messages && !uccs_far_touched);
    carrier_end(carrier.left[0].token, false);
    CHECK(held == 0 && link_service()->sending == 0);
    uccs_request_handle handle = 0;
    uccs_far_put_nb(0, 1, in_heap(0), data, 9000, 0, &handle);
    CHECK(left_is(1, LINK_PUT, 1) && carrier.left[1].header.number >= LINK_REQUEST);
    CHECK(handle->pending == 3 && handle->sources == 2); /* the owner's, the target's, the source's */
    carrier_end(carrier.left[1].token, false);
    CHECK(handle->pending == 2 && handle->sources == 1);
    carrier.sends = TRANSPORT_DONE;
    uccs_far_put_nb(0, 1, in_heap(0), data, 8, 0, &handle); /* copied */
    CHECK(handle->pending == 2 && handle->sources == 1);
    uccs_far_put_nb(0, 1, in_heap(0), data, 0, 0, &handle);
    uccs_far_put_nb(0, 1, in_heap(0), data, 9000, 0, &handle);
    CHECK(handle->pending == 2 && handle->sources == 1);
    uccs_far_put(0, 1, in_heap(0), data, 9000, 0, &handle); /* its source is free on return */
    CHECK(handle->pending == 2 && handle->sources == 1);
    poll_service();
    CHECK(carrier_last()->header.kind == LINK_FLUSH && carrier_last()->header.after == 5);
    carrier_flushed(carrier_last(), 0, 0, 0);
    CHECK(handle->pending == 1 && !handle->error);
    uccs_request_free(&handle);
}

static bool waited;

static void make_room(struct link_lane *lane)
{
    waited = true;
    CHECK(lane->sending == 513);
    carrier.look = 0;
    for (unsigned i = 0; i < 1; i++)
        carrier_end(carrier.left[i].token, false);
}

static void one_left(struct link_lane *lane)
{
    waited = true;
    lane->sending--;
}

/* Up to 512 messages that the network holds, issuing goes on; with one more it waits. */
static void room(void)
{
    carrier_reset();
    carrier.sends = TRANSPORT_PENDING;
    for (int i = 0; i < 512; i++)
        put(0, 1, 0, 9000);
    CHECK(link_service()->sending == 512 && !link_busy(link_service()));
    put(0, 1, 0, 9000);
    CHECK(link_service()->sending == 513 && link_busy(link_service()) && carrier.count == 513);
    link_never_waits = true;
    link_make_room(link_service());
    link_never_waits = false;
    carrier.look = make_room;
    waited = false;
    put(0, 1, 0, 9000);
    CHECK(waited && link_service()->sending == 513 && carrier.count == 514);
    waited = false;
    carrier.look = make_room;
    link_service()->sending = 513;
    uccs_far_count(0, 1, 0, 1);
    CHECK(waited);
    for (int kind = 0; kind < 3; kind++) {
        const struct uccs_far_place region = {FAR_REGION, 0, 9};
        waited = false;
        carrier.look = one_left;
        link_service()->sending = 513;
        if (kind == 0)
            uccs_far_change(0, 1, region, &(struct uccs_change){UCCS_INT32, UCCS_SUM, 1}, data, 0, false, 0, 0, 0);
        else if (kind == 1)
            uccs_far_amo_post(0, 1, UCCS_ATOMIC_ADD, in_heap(0), 8, 1, 0, false, 0, 0);
        else
            uccs_far_put_blocks(0, 1, in_heap(0), data, &(struct uccs_far_blocks){8, 2, 8, 8}, false, 0, 0);
        CHECK(waited);
    }
    link_service()->sending = 513;
    for (unsigned i = 1; i < carrier.count; i++)
        if (i < 514)
            carrier_end(carrier.left[i].token, false);
    CHECK(link_service()->sending <= 1);
}

static void put_some(void *pe)
{
    put(0, (int)(intptr_t)pe, 0, 9000);
}

/* What ends the job: a connection that cannot be made, or is lost. */
static void unreachable(void)
{
    carrier_reset();
    carrier.sends = TRANSPORT_FAILED;
    const char *why = world_try(put_some, (void *)2);
    CHECK(why && strstr(why, "a message to PE 2 failed: the connection is lost"));
    carrier_reset();
    carrier.no_connection = true;
    why = world_try(put_some, (void *)2);
    CHECK(why && strstr(why, "PE 2 cannot be reached over stub"));
    carrier_reset();
    carrier.no_connection = true;
    struct link_header h = {.kind = LINK_HELLO, .from = 1, .lane = 4};
    why = carrier_try(link_service(), &h, "address", 7, false);
    CHECK(why && strstr(why, "PE 1 cannot be answered over stub"));
    carrier_reset();
}

/* --- What the progress thread is told: that a lane has messages which nobody sends */

static void reminders(void)
{
    struct uccs_far_lanes on = {0};
    carrier_reset();
    put(&on, 1, 0, 8);
    CHECK(link_left == 0); /* there is no such thread */
    (void)link_poll(on.own);
    uccs_progress_on = true;
    put(&on, 1, 0, 8);
    CHECK(link_left == 8);
    link_left = 0;
    put(&on, 1, 0, 8); /* the lane has a box already */
    CHECK(link_left == 0);
    (void)link_poll(on.own);
    put(0, 1, 0, 8);
    CHECK(link_left == 0); /* the thread polls the service lane */
    carrier.sends = TRANSPORT_PENDING;
    put(&on, 1, 0, 9000);
    CHECK(link_left == 8);
    link_left = 0;
    put(0, 1, 0, 9000);
    CHECK(link_left == 0);
    carrier.sends = TRANSPORT_DONE;
    put(&on, 1, 0, 9000);
    CHECK(link_left == 0);
    carrier_reset();
}

/* --- Blocking puts that the program soon follows by others */

static void block(void)
{
    uccs_far_put(0, 1, in_heap(0), data, 8, 0, 0);
}

/* So many in a row that are followed soon, and the next one is kept until something follows; each one kept in vain doubles the
 * number, and after six none is kept. */
static void habits(void)
{
    carrier_reset();
    uccs_progress_on = true;
    for (uint32_t misses = 0; misses <= 7; misses++) {
        for (uint32_t i = 1; i < 32u << misses; i++) {
            carrier_clear();
            block();
            CHECK(carrier.count == 1);
            now += i % 2 ? 4000 : 0;
            if (misses >= 6 && i > 100)
                break;
        }
        now += 4001; /* too late: begins again */
        carrier_clear();
        block();
        CHECK(carrier.count == 1 && link_service()->habit.good == 0);
        for (uint32_t i = 1; i < 32u << misses; i++)
            block();
        carrier_clear();
        block();
        CHECK(carrier.count == (misses >= 6) && link_service()->habit.misses == (misses < 6 ? misses : 6));
        poll_service();
        CHECK(carrier.count == 1);
        now += 4001; /* in vain */
        block();
        CHECK(link_service()->habit.misses == (misses < 6 ? misses + 1 : 6));
    }
    carrier_reset();
    for (int i = 0; i < 100; i++) { /* nobody would send it */
        block();
        CHECK(carrier.count == (unsigned)i + 1);
    }
    for (int quiet = 0; quiet < 2; quiet++) {
        carrier_reset();
        uccs_progress_on = true;
        carrier.look = carrier_answer_flush;
        block();
        if (quiet)
            uccs_far_quiet(0);
        else
            put(0, 1, 0, 8);
        CHECK(link_service()->habit.good == 1 && !link_service()->habit.open);
    }
    carrier_reset();
}

static void habits_of_puts(void)
{
    struct link_lane *lane = link_service();
    uint32_t flag = 0;
    const struct link_message good = {.header.kind = LINK_PUT, .flag = &flag, .counts = true, .bytes = 16384};
    carrier_reset();
    uccs_progress_on = true;
    lane->habit.good = 32;
    CHECK(link_habit_keeps(lane, &good));
    struct link_message other = good;
    other.flag = 0;
    CHECK(!link_habit_keeps(lane, &other));
    other = good;
    other.counts = false;
    CHECK(!link_habit_keeps(lane, &other));
    other = good;
    other.header.kind = LINK_PUT_BLOCKS;
    CHECK(!link_habit_keeps(lane, &other));
    other = good;
    other.bytes++;
    CHECK(!link_habit_keeps(lane, &other));
    other = good;
    other.header.put.what = FAR_COUNT;
    CHECK(!link_habit_keeps(lane, &other));
    link_habit_put(lane, &other, true);
    CHECK(!lane->habit.open && lane->habit.good == 32);
    link_habit_put(lane, &good, true);
    CHECK(lane->habit.open && lane->habit.kept && lane->habit.good == 32 && lane->habit.since == now);
    lane->habit.good = 31;
    CHECK(!link_habit_keeps(lane, &good));
    uccs_progress_on = false;
    lane->habit.good = 32;
    CHECK(!link_habit_keeps(lane, &good));
    carrier_reset();
}

int main(void)
{
    carrier_open();
    alone();
    wide();
    together();
    full();
    at_once();
    boxes();
    hello();
    fences();
    free_source();
    room();
    unreachable();
    reminders();
    habits();
    habits_of_puts();
    _exit(0);
}
