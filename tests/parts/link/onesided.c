/* Operations that the network does by itself: which ones it gets, for which part of which piece of memory, and what waits for them.
 * Messages stay behind puts, and puts behind messages, where a fence says so. The network does nothing until the test says so. */
#include "carrier.h"

#include "uccs/object/region.h"

#define START UINT64_C(0x40000000)
static char data[1 << 17];

static struct link_lane *service(void)
{
    return link_service();
}

static struct link_peer *peer(int pe)
{
    return service()->peers[pe];
}

static struct uccs_far_place at(uint64_t offset)
{
    return (struct uccs_far_place){.segment = FAR_HEAP, .offset = offset};
}

static struct uccs_far_place in_region(uint64_t offset, uint64_t region)
{
    return (struct uccs_far_place){FAR_REGION, offset, region};
}

static void put_to(struct uccs_far_place to, size_t bytes, uccs_request_handle *handle)
{
    uccs_far_put_nb(0, 1, to, data, bytes, 0, handle);
}

static void put(size_t bytes)
{
    put_to(at(64), bytes, 0);
}

static void flushed(void)
{
    CHECK(carrier_last()->header.kind == LINK_FLUSH);
    carrier_flushed(carrier_last(), 0, 0, 0);
}

static void quiet_by_message(void)
{
    struct uccs_request all = {.pending = 1};
    uccs_far_flush(0, &all);
    flushed();
    CHECK(all.pending == 1);
}

static void give_key(const struct left *asked, uint64_t start, size_t bytes)
{
    struct link_header h = carrier_answer(asked, LINK_KEYED);
    CHECK(asked->header.kind == LINK_KEY);
    h.keyed.start = start;
    carrier_bring(&link_lanes[asked->lane], &h, "a key", bytes);
}

static void begin(unsigned able)
{
    carrier_reset();
    link_has_direct = true;
    link_wire = TRANSPORT_ALONE;
    carrier.able = able | TRANSPORT_KNOWN;
}

/* A connection to PE 1 with the key of the first piece of its heap, and nothing under way. */
static void begin_keyed(unsigned able)
{
    begin(able);
    put(8);
    put(8);
    CHECK(left_is(1, LINK_KEY, 1));
    give_key(&carrier.left[1], START, 5);
    quiet_by_message();
    carrier_clear();
}

static bool operation_is(unsigned number, enum what what, uint64_t there, size_t bytes)
{
    const struct left *left = &carrier.left[number];
    return number < carrier.count && left->what == what && left->pe == 1 && left->there == there &&
           left->bytes == bytes;
}

/* --- Keys */

/* Until the key is there, puts go by messages; the first one connects, the second one asks, once for each piece. */
static void keys(void)
{
    begin(TRANSPORT_ALONE);
    put(8);
    (void)link_poll(service());
    CHECK(carrier.count == 1 && left_is(0, LINK_PUT, 1) && !peer(1)->direct);
    put_to(at(LINK_PIECE + 5), 8, 0);
    CHECK(carrier.count == 2 && left_is(1, LINK_KEY, 1) && peer(1)->direct && !peer(1)->direct->orders);
    const struct link_header *h = &carrier.left[1].header;
    CHECK(h->segment == FAR_HEAP && h->at.offset == LINK_PIECE && h->at.region == 0 && h->key.asker && h->from == 0);
    put_to(at(LINK_PIECE - 8), 16, 0); /* both pieces: the other key is asked for, too */
    CHECK(carrier.left[3].header.kind == LINK_KEY && carrier.left[3].header.at.offset == 0);
    put_to(at(LINK_PIECE + 5), 8, 0);
    (void)link_poll(service());
    unsigned asked = 0;
    for (unsigned i = 0; i < carrier.count; i++)
        asked += carrier.left[i].header.kind == LINK_KEY;
    CHECK(asked == 2 && carrier.count == 6);
    give_key(&carrier.left[1], START, 5);
    CHECK(carrier.keys == 1);
    quiet_by_message();
    carrier_clear();
    put_to(at(LINK_PIECE + 5), 8, 0);
    CHECK(carrier.count == 1 && operation_is(0, PUT, START + 5, 8) && carrier.left[0].here == data);
    CHECK(peer(1)->issued.puts == 1 && peer(1)->issued.messages == 4 && uccs_far_touched);
    put_to(at(LINK_PIECE - 8), 16, 0);
    put_to(at(LINK_PIECE - 1), 0, 0); /* nothing to move */
    (void)link_poll(service());
    CHECK(carrier.count == 3 && left_is(1, LINK_PUT, 1) && left_is(2, LINK_PUT, 1));
    carrier_reset();
}

/* A message over several pieces is an operation for each. */
static void pieces(void)
{
    begin_keyed(TRANSPORT_ALONE);
    put_to(at(LINK_PIECE), 8, 0);
    give_key(&carrier.left[0], 3 * START, 5);
    quiet_by_message();
    carrier_clear();
    carrier.puts = carrier.flushes = TRANSPORT_PENDING;
    uccs_request_handle handle = 0;
    put_to(at(LINK_PIECE - 100), 300, &handle);
    CHECK(carrier.count == 2 && operation_is(0, PUT, START + LINK_PIECE - 100, 100));
    CHECK(operation_is(1, PUT, 3 * START, 200) && carrier.left[1].here == data + 100);
    CHECK(carrier.left[0].key != carrier.left[1].key && carrier.left[0].key &&
          carrier.left[0].token == carrier.left[1].token);
    CHECK(peer(1)->issued.puts == 1 && service()->sending == 1 && handle->sources == 2 && handle->pending == 3);
    carrier_end(carrier.left[0].token, false);
    CHECK(handle->sources == 2);
    carrier_end(carrier.left[1].token, false);
    CHECK(service()->sending == 0 && handle->sources == 1 && handle->pending == 2);
    put_to(at(LINK_PIECE - 100), 100, 0);
    CHECK(carrier.count == 3 && operation_is(2, PUT, START + LINK_PIECE - 100, 100));
    put_to(at(LINK_PIECE), 100, 0);
    CHECK(carrier.count == 4 && operation_is(3, PUT, 3 * START, 100));
    (void)link_poll(service());
    CHECK(carrier.count == 5 && carrier.left[4].what == FLUSH); /* the request asked for it */
    carrier_end(carrier.left[4].token, false);
    CHECK(handle->pending == 1 && !handle->error && peer(1)->answered.puts == 3);
    carrier_end(carrier.left[2].token, false);
    carrier_end(carrier.left[3].token, false);
    uccs_request_free(&handle);
    CHECK(carrier.forgotten == 0);
    pthread_mutex_lock(&service()->lock);
    link_direct_free(peer(1));
    pthread_mutex_unlock(&service()->lock);
    CHECK(carrier.forgotten == 2 && !peer(1)->direct);
    carrier_reset();
}

/* Memory that has no key is written by messages, for good; neither is it asked for again. */
static void no_key(void)
{
    begin(TRANSPORT_ALONE);
    put(8);
    put(8);
    give_key(&carrier.left[1], START, 0);
    CHECK(carrier.keys == 0);
    for (int i = 0; i < 3; i++)
        put(8);
    (void)link_poll(service());
    CHECK(carrier.count == 6);
    for (unsigned i = 2; i < 6; i++)
        CHECK(left_is(i, LINK_PUT, 1));
    begin(TRANSPORT_ONESIDED); /* emulated, and this is not wanted */
    put(8);
    put(8);
    (void)link_poll(service());
    CHECK(carrier.count == 2 && !peer(1)->direct);
    link_wire = TRANSPORT_ONESIDED;
    put(8);
    CHECK(carrier.count == 3 && left_is(2, LINK_KEY, 1) && peer(1)->direct);
    carrier_reset();
}

/* --- Order */

/* A put stays behind messages that a fence has put before it: then it is a message, too. */
static void behind_messages(void)
{
    begin_keyed(TRANSPORT_ALONE | TRANSPORT_ORDERS);
    uccs_far_amo_post(0, 1, UCCS_ATOMIC_ADD, at(0), 8, 1, 0, false, 0, 0);
    put(8);
    CHECK(carrier.count == 2 && operation_is(1, PUT, START + 64, 8)); /* no fence */
    uccs_far_fence(0);
    put(8);
    (void)link_poll(service());
    CHECK(carrier.count == 4 && carrier.left[2].what == FLUSH); /* the message waits for the put before it */
    CHECK(left_is(3, LINK_PUT, 1) && carrier.left[3].header.after == 3);
    quiet_by_message();
    put(8);
    CHECK(carrier_last()->what == PUT);
    carrier_reset();
}

/* Puts behind puts: the network keeps the order, once it is told, or else they go as messages. */
static void behind_puts(void)
{
    begin_keyed(TRANSPORT_ALONE | TRANSPORT_ORDERS);
    put(8);
    put(8);
    CHECK(carrier.orders == 0 && carrier.count == 2);
    uccs_far_fence(0);
    put(8);
    CHECK(carrier.orders == 1 && carrier.count == 3 && carrier.left[2].what == PUT);
    put(8);
    CHECK(carrier.orders == 1);
    uccs_far_fence(0);
    put(8);
    CHECK(carrier.orders == 2 && carrier.count == 5 && carrier.left[4].what == PUT);
    carrier.flushes = TRANSPORT_DONE;
    struct uccs_request all = {.pending = 1};
    uccs_far_flush(0, &all);
    CHECK(all.pending == 1 && carrier.count == 6 && carrier.left[5].what == FLUSH && peer(1)->answered.puts == 5);
    uccs_far_fence(0);
    put(8);
    CHECK(carrier.orders == 2); /* nothing is under way */
    begin_keyed(TRANSPORT_ALONE);
    carrier.flushes = TRANSPORT_PENDING;
    put(8);
    uccs_far_fence(0);
    put(8);
    CHECK(carrier.orders == 0 && carrier.count == 2 && carrier.left[1].what == FLUSH && service()->sending == 2);
    (void)link_poll(service());
    CHECK(carrier.count == 2);
    carrier_end(carrier.left[1].token, false);
    CHECK(service()->sending == 0);
    (void)link_poll(service());
    CHECK(carrier.count == 3 && left_is(2, LINK_PUT, 1) && peer(1)->answered.puts == 1);
    carrier_reset();
}

static void held_in_order(void)
{
    const struct uccs_far_with with = {.what = FAR_COUNT, .value = 0, .weight = 1};
    begin_keyed(TRANSPORT_ALONE);
    carrier.flushes = TRANSPORT_PENDING;
    put(8);
    uccs_far_fence(0);
    memset(data, 'o', 32);
    uccs_far_put_nb(0, 1, at(1), data, 16, &with, 0); /* small, with a notice: a message */
    uccs_far_put_blocks(0, 1, at(2), data, &(struct uccs_far_blocks){8, 2, 8, 8}, true, 0, 0);
    uccs_far_amo_post(0, 1, UCCS_ATOMIC_ADD, at(8), 8, 1, 0, true, 0, 0);
    uccs_far_flag(1, 64, 1, false); /* has no order */
    CHECK(carrier.count == 3 && carrier.left[1].what == FLUSH && left_is(2, LINK_FLAG, 1));
    CHECK(service()->sending == 4 && peer(1)->issued.puts == 1);
    memset(data + 16, 'x', 16);
    carrier_end(carrier.left[1].token, false);
    CHECK(service()->sending == 0 && !peer(1)->direct->held);
    (void)link_poll(service());
    CHECK(carrier.count == 6 && left_is(3, LINK_PUT, 1) && left_is(4, LINK_PUT_BLOCKS, 1) && left_is(5, LINK_AMO, 1));
    CHECK(carrier.left[3].bytes == 16 && carrier.left[4].bytes == 16 && carrier.left[5].bytes == 0);
    CHECK(memcmp(carrier.left[4].data, "oooooooooooooooo", 16) == 0);
    carrier_reset();
}

/* A message that may leave later is copied when it is held, since its sender may change the data. */
static void held_copies(void)
{
    begin_keyed(TRANSPORT_ALONE);
    carrier.flushes = TRANSPORT_PENDING;
    put(8);
    uccs_far_fence(0);
    struct uccs_region *region = uccs_region_describe(data, 64, UCCS_DOMAIN_CPU);
    const struct uccs_change change = {UCCS_INT32, UCCS_SUM, 2};
    int operand[2] = {5, 6};
    uccs_far_change(0, 1, in_region(0, 7), &change, operand, 0, true, 0, 0, 0);
    operand[0] = operand[1] = 99;
    CHECK(carrier.count == 2 && carrier.left[1].what == FLUSH);
    carrier_end(carrier.left[1].token, true); /* a put has failed: the message goes on, a flush tells */
    (void)link_poll(service());
    CHECK(carrier.count == 3 && left_is(2, LINK_CHANGE, 1) && carrier.left[2].bytes == 8);
    memcpy(operand, carrier.left[2].data, 8);
    CHECK(operand[0] == 5 && operand[1] == 6 && carrier.left[2].header.change.n == 2);
    struct uccs_request all = {.pending = 1};
    uccs_far_flush(0, &all);
    flushed();
    CHECK(all.pending == 1 && all.error == 1);
    put(8);
    uccs_far_flush(0, &all);
    carrier_end(carrier_last()->token, false);
    CHECK(all.pending == 1 && all.error == 1); /* told once */
    free(uccs_region_end(region->slot));
    carrier_reset();
}

/* Long data with a signal: the data by the network, then the word, once the data is there. */
static void tells(void)
{
    const struct uccs_far_with with = {.what = FAR_SIGNAL_SET, .place = {.segment = FAR_HEAP, .offset = 8}, .value = 3};
    uccs_request_handle handle = 0;
    begin_keyed(TRANSPORT_ALONE);
    carrier.flushes = carrier.puts = TRANSPORT_PENDING;
    uccs_far_put_nb(0, 1, at(64), data, TRANSPORT_SHORT, &with, 0);
    CHECK(carrier.count == 1 && left_is(0, LINK_PUT, 1) && carrier.left[0].bytes == TRANSPORT_SHORT);
    uccs_far_put_nb(0, 1, at(64), data, TRANSPORT_SHORT + 1, &with, &handle);
    CHECK(carrier.count == 3 && operation_is(1, PUT, START + 64, TRANSPORT_SHORT + 1) && carrier.left[2].what == FLUSH);
    CHECK(peer(1)->issued.puts == 1 && peer(1)->issued.messages == 4);
    carrier_end(carrier.left[2].token, false);
    CHECK(carrier.count == 4 && left_is(3, LINK_PUT, 1) && carrier.left[3].bytes == 0);
    const struct link_header *h = &carrier.left[3].header;
    CHECK(h->put.what == FAR_SIGNAL_SET && h->put.signal_value == 3 && h->put.signal_offset == 8 && h->after == 2);
    CHECK(h->number == 0x8000 && h->at.offset == 64);
    carrier_end(carrier.left[1].token, false);
    (void)link_poll(service());
    flushed();
    CHECK(handle->pending == 1 && handle->sources == 1);
    uccs_request_free(&handle);
    carrier_reset();
}

/* --- Gets and completion */

static void gets(void)
{
    uccs_request_handle handle = 0;
    begin_keyed(TRANSPORT_ALONE);
    carrier.gets = TRANSPORT_PENDING;
    uccs_far_get_nb(0, 1, at(32), data, 24, 0, &handle);
    CHECK(carrier.count == 1 && operation_is(0, GET, START + 32, 24) && carrier.left[0].here == data);
    CHECK(handle->pending == 2 && service()->sending == 1 && service()->last->reads && peer(1)->issued.puts == 0);
    carrier_end(carrier.left[0].token, false);
    CHECK(handle->pending == 1 && !handle->error && service()->sending == 0 && !service()->first);
    uccs_far_get_nb(0, 1, at(32), data, 24, 0, &handle);
    carrier_end(carrier_last()->token, true);
    CHECK(handle->pending == 1 && handle->error == 1);
    carrier.gets = TRANSPORT_FAILED;
    uccs_far_get_nb(0, 1, at(32), data, 24, 0, &handle);
    CHECK(handle->pending == 1 && handle->error == 2);
    carrier.gets = TRANSPORT_DONE;
    CHECK(uccs_far_get(0, 1, at(32), data, 24, 0) && carrier_last()->what == GET);
    uccs_far_get_nb(0, 1, at(0), data, 0, 0, 0);
    CHECK(carrier_last()->header.kind == LINK_GET);
    carrier_data(carrier_last(), 0, 0, 0);
    uccs_far_get_local(0, 1, at(32), data, 24, 0, true, 0, 0);
    CHECK(carrier_last()->what == GET); /* nothing is before it */
    put(8);
    uccs_far_get_local(0, 1, at(32), data, 24, 0, true, 0, 0);
    CHECK(carrier.left[carrier.count - 2].what == FLUSH); /* held until the put is there */
    CHECK(carrier_last()->what == MESSAGE && carrier_last()->header.kind == LINK_GET);
    uccs_request_free(&handle);
    carrier_reset();
}

/* A flush of both kinds of operations has two parts; a put that has failed fails the next one alone. */
static void completion(void)
{
    struct uccs_request all = {.pending = 1};
    begin_keyed(TRANSPORT_ALONE);
    carrier.flushes = TRANSPORT_PENDING;
    put(8);
    uccs_far_amo_post(0, 1, UCCS_ATOMIC_ADD, at(8), 8, 1, 0, false, 0, 0);
    uccs_far_flush(0, &all);
    CHECK(all.pending == 2 && carrier.count == 4 && carrier.left[2].header.kind == LINK_FLUSH &&
          carrier.left[3].what == FLUSH);
    carrier_end(carrier.left[3].token, false);
    CHECK(all.pending == 2);
    carrier_flushed(&carrier.left[2], 0, 0, 0);
    CHECK(all.pending == 1 && !all.error && peer(1)->answered.puts == 1 && peer(1)->answered.messages == 3);
    carrier.puts = TRANSPORT_FAILED;
    put(8);
    CHECK(peer(1)->direct->failed && service()->sending == 0);
    uccs_far_flush(0, &all);
    carrier_end(carrier_last()->token, false);
    CHECK(all.pending == 1 && all.error == 1 && !peer(1)->direct->failed);
    carrier.puts = TRANSPORT_DONE;
    put(8);
    uccs_far_flush(0, &all);
    carrier_end(carrier_last()->token, true);
    CHECK(all.pending == 1 && all.error == 2);
    carrier.flushes = TRANSPORT_FAILED;
    put(8);
    uccs_far_flush(0, &all);
    CHECK(all.pending == 1 && all.error == 3 && service()->sending == 0);
    carrier_reset();
}

/* --- Regions: who releases memory learns when no operation is under way any more */

static void regions(void)
{
    const uint64_t region = UINT64_C(5) << 32 | 1;
    begin_keyed(TRANSPORT_ALONE);
    put_to(in_region(16, region), 8, 0);
    CHECK(left_is(0, LINK_KEY, 1) && carrier.left[0].header.at.region == region &&
          carrier.left[0].header.segment == FAR_REGION);
    give_key(&carrier.left[0], START, 5);
    quiet_by_message();
    carrier_clear();
    carrier.gets = carrier.flushes = TRANSPORT_PENDING;
    put_to(in_region(16, region), 8, 0);
    uccs_far_get_nb(0, 1, in_region(0, region), data, 8, 0, 0);
    CHECK(carrier.count == 2 && operation_is(0, PUT, START + 16, 8) && operation_is(1, GET, START, 8));
    CHECK(!link_region_gone(2, region) && !link_region_gone(1, region + 1) && !service()->lands);
    CHECK(link_region_gone(1, region) && service()->lands == 1);
    (void)link_poll(service());
    CHECK(carrier.count == 3 && carrier.left[2].what == FLUSH && service()->lands == 0);
    carrier_end(carrier.left[2].token, false);
    CHECK(link_region_gone(1, region)); /* the get */
    carrier_end(carrier.left[1].token, false);
    CHECK(!link_region_gone(1, region));
    put_to(in_region(16, region), 8, 0);
    CHECK(carrier_last()->what == GET || carrier_last()->what == FLUSH); /* no put: it waits as a message */
    (void)link_poll(service());
    CHECK(left_is(carrier.count - 1, LINK_PUT, 1));
    const unsigned forgotten = carrier.forgotten;
    for (uint64_t i = 0; i < LINK_KEY_CHAINS;
         i++) /* keys of released regions are forgotten when another takes their place */
        put_to(in_region(0, region + 16 + i), 8, 0);
    CHECK(carrier.forgotten == forgotten + 1);
    carrier_reset();
}

/* --- Keys of this process's own memory, for its peers */

static const struct left *asked_for(uint64_t offset, uint32_t segment, uint64_t region)
{
    struct link_header h = {.kind = LINK_KEY, .from = 2, .segment = (uint8_t)segment, .at = {offset, region}};
    h.key.asker = 6;
    carrier_clear();
    carrier_bring(service(), &h, 0, 0);
    (void)link_poll(service());
    CHECK(carrier.count == 1 && left_is(0, LINK_KEYED, 2) && carrier.left[0].header.keyed.asker == 6);
    return &carrier.left[0];
}

static void own_keys(void)
{
    begin(TRANSPORT_ALONE);
    char *heap = world_heap - in_heap(0).offset;
    const struct left *key = asked_for(0, FAR_HEAP, 0);
    CHECK(key->bytes == sizeof(char *) && memcmp(key->data, &heap, sizeof heap) == 0);
    CHECK(key->header.keyed.start == (uint64_t)uccs_core.heap_start && key->header.from == 0);
    key = asked_for(LINK_PIECE, FAR_HEAP, 0); /* beyond its end */
    CHECK(key->bytes == 0);
    key = asked_for(0, FAR_REGION, world_region);
    CHECK(key->bytes == sizeof(char *) && key->header.keyed.start != 0);
    CHECK(carrier.withdrawn == 0 && link_share(heap, 4096) && carrier.withdrawn == 0);
    link_withdraw(world_region + 1);
    CHECK(carrier.withdrawn == 0);
    link_withdraw(world_region);
    CHECK(carrier.withdrawn == 1);
    carrier_transport.share = 0;
    CHECK(link_share(heap, 4096) && !link_share(heap + 4096, 4096)); /* the first one is there */
    carrier_transport.share = carrier_share;
    CHECK(!link_share(heap + 4096, 4096) && link_share(heap + 8192, 4096) && !link_share(heap + 8193, 0));
    link_key_close();
    CHECK(carrier.withdrawn == 3);
    carrier_reset();
}

int main(void)
{
    carrier_open();
    keys();
    pieces();
    no_key();
    behind_messages();
    behind_puts();
    held_in_order();
    held_copies();
    tells();
    gets();
    completion();
    regions();
    own_keys();
    _exit(0);
}
