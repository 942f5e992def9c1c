/* Atomics that the network does, which no message can replace, so they wait for their turn; and the memory that peers lend, which is
 * asked for once. The network does nothing until the test says so. */
#include "carrier.h"

#include "uccs/core/reach.h"

#define START UINT64_C(0x40000000)

static struct link_peer *peer(void)
{
    return link_service()->peers[1];
}

static void begin(void)
{
    carrier_reset_alone();
    carrier.atomics = carrier.flushes = TRANSPORT_PENDING;
}

/* --- What the connection must have */

static void know(struct link_lane *lane)
{
    (void)lane;
    if (carrier.looks == 5)
        carrier.able = TRANSPORT_KNOWN | TRANSPORT_ALONE | TRANSPORT_ATOMICS_ALONE;
}

static void all_atomics(void)
{
    begin();
    CHECK(link_adapter() && carrier.connects == 1 && carrier_peers[0].pe == 0 && carrier.looks == 0);
    carrier.able &= ~(unsigned)TRANSPORT_ATOMICS_ALONE;
    CHECK(!link_adapter());
    link_wire = TRANSPORT_ONESIDED;
    CHECK(!link_adapter());
    carrier.able = TRANSPORT_KNOWN | TRANSPORT_ONESIDED;
    CHECK(link_adapter());
    carrier.atomics4 ^= 1u << TRANSPORT_XOR;
    CHECK(!link_adapter());
    carrier.atomics4 = TRANSPORT_ATOMICS_ALL;
    carrier.atomics8 = 0;
    CHECK(!link_adapter());
    begin();
    carrier.able = TRANSPORT_KNOWN | TRANSPORT_ATOMICS_ALONE;
    CHECK(!link_adapter());
    begin();
    link_has_direct = false;
    CHECK(!link_adapter() && carrier.connects == 0);
    begin();
    carrier.able = 0;
    carrier.look = know;
    CHECK(link_adapter() && carrier.looks == 5);
}

/* --- Atomics */

static bool no_key;

/* Answers for keys, ends flushes, and ends atomics with an old value. */
static void serve(struct link_lane *lane)
{
    for (unsigned i = 0; i < carrier.count; i++) {
        struct left *left = &carrier.left[i];
        if (left->parcel == UINT32_MAX || left->lane != lane->number)
            continue;
        if (left->what == MESSAGE && left->header.kind == LINK_KEY) {
            struct link_header h = carrier_answer(left, LINK_KEYED);
            const struct transport_message message = {.header = &h,
                                                      .header_bytes = sizeof h,
                                                      .data = "key",
                                                      .bytes = no_key ? 0 : 3};
            h.keyed.start = START;
            left->parcel = UINT32_MAX;
            link_arrived(lane, &message);
            return;
        }
        if (left->what == MESSAGE)
            continue;
        left->parcel = UINT32_MAX; /* it is done */
        if (left->what == ATOMIC && left->here && left->bytes == 4)
            *(uint32_t *)left->here = 70;
        else if (left->what == ATOMIC && left->here)
            *(uint64_t *)left->here = UINT64_C(0x700000007);
        carrier_end(left->token, false);
        return;
    }
    carrier_answer_flush(lane);
}

static struct uccs_far_place at(uint64_t offset)
{
    return (struct uccs_far_place){.segment = FAR_HEAP, .offset = offset};
}

static const struct left *last_atomic(void)
{
    const struct left *left = carrier_last();
    CHECK(left->what == ATOMIC && left->pe == 1 && left->there == START + 16);
    return left;
}

static void words(void)
{
    static const struct {
        enum uccs_atomic op;
        enum transport_atomic what;
        bool posts_old; /* also when nobody wants the old value, the network needs a place for it */
    } rows[] = {{UCCS_ATOMIC_FETCH, TRANSPORT_ADD, false}, {UCCS_ATOMIC_SET, TRANSPORT_SWAP, true},
                {UCCS_ATOMIC_SWAP, TRANSPORT_SWAP, true},  {UCCS_ATOMIC_CSWAP, TRANSPORT_CSWAP, true},
                {UCCS_ATOMIC_ADD, TRANSPORT_ADD, false},   {UCCS_ATOMIC_AND, TRANSPORT_AND, false},
                {UCCS_ATOMIC_OR, TRANSPORT_OR, false},     {UCCS_ATOMIC_XOR, TRANSPORT_XOR, false}};
    begin();
    carrier.look = serve;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t size = 4; size <= 8; size += 4) {
            const struct uccs_atomic_op op = {rows[i].op, size, 11, 22};
            CHECK(uccs_far_adapter_fetch(0, 1, &op, at(16)) == (size == 4 ? 70 : UINT64_C(0x700000007)));
            CHECK(last_atomic()->word.what == rows[i].what && last_atomic()->word.size == size && last_atomic()->here);
            CHECK(last_atomic()->word.operand == (rows[i].op == UCCS_ATOMIC_FETCH ? 0 : 11));
            CHECK(last_atomic()->word.compare == 22);
            uint64_t old = 0;
            uccs_far_adapter_fetch_nb(0, 1, &op, at(16), &old, 0);
            CHECK(last_atomic()->here == &old && old == 0);
            uccs_far_quiet(0);
            CHECK(old == (size == 4 ? 70 : UINT64_C(0x700000007)));
            uccs_far_adapter_post(0, 1, &op, at(16), false, 0);
            CHECK((last_atomic()->here != 0) == rows[i].posts_old);
            uccs_far_quiet(0);
        }
    CHECK(peer()->issued.puts == 48 && peer()->answered.puts == 48 && !peer()->busy && link_service()->sending == 0);
    CHECK(peer()->issued.messages == 0 && link_service()->asking == 0 && !uccs_far_touched);
}

/* An old value tells that the atomic is done; without one a flush must ask. */
static void completion(void)
{
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};
    uccs_request_handle handle = 0;
    begin();
    carrier.look = serve;
    (void)uccs_far_adapter_fetch(0, 1, &add, at(16));
    CHECK(peer()->answered.puts == 1);
    carrier_clear();
    carrier.look = 0;
    uccs_far_adapter_post(0, 1, &add, at(16), false, &handle);
    CHECK(carrier.count == 1 && handle->pending == 2 && peer()->busy && uccs_far_touched);
    uint64_t old = 0;
    uccs_request_handle other = 0;
    uccs_far_adapter_fetch_nb(0, 1, &add, at(16), &old, &other);
    CHECK(carrier.count == 2 && other->pending == 2);
    carrier_end(carrier.left[1].token, false);
    CHECK(other->pending == 1 && peer()->answered.puts == 1); /* the first one may not be done */
    carrier_end(carrier.left[0].token, false);
    CHECK(handle->pending == 2);
    (void)link_poll(link_service());
    CHECK(carrier.count == 3 && carrier.left[2].what == FLUSH);
    carrier_end(carrier.left[2].token, false);
    CHECK(handle->pending == 1 && !handle->error && peer()->answered.puts == 3 && !peer()->busy);
    uccs_request_free(&handle);
    uccs_request_free(&other);
}

/* Somebody must look at a lane for which the network has something under way; the service lane is looked at anyway. */
static void reminders(void)
{
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};
    for (int own = 0; own < 2; own++) {
        struct uccs_far_lanes lanes = {0}, *on = own ? &lanes : 0;
        struct uccs_request all = {.pending = 1};
        begin();
        carrier.look = serve;
        (void)uccs_far_adapter_fetch(on, 1, &add, at(16));
        uccs_far_quiet(on);
        carrier.look = 0;
        carrier_clear();
        uccs_progress_on = true;
        link_left = 0;
        uccs_far_adapter_post(on, 1, &add, at(16), false, 0);
        CHECK(carrier.count == 1 && link_left == (own ? 8 : 0));
        link_left = 0;
        uccs_far_flush(on, &all);
        CHECK(carrier.count == 2 && carrier.left[1].what == FLUSH && link_left == (own ? 8 : 0));
        carrier_end(carrier.left[0].token, false);
        carrier_end(carrier.left[1].token, false);
        CHECK(all.pending == 1);
    }
}

/* Behind what was issued before: by the network's order, or by a flush. */
static void behind(void)
{
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};
    for (int orders = 0; orders < 2; orders++) {
        begin();
        carrier.able |= orders ? TRANSPORT_ORDERS : 0;
        carrier.look = serve;
        (void)uccs_far_adapter_fetch(0, 1, &add, at(16));
        carrier_clear();
        uccs_far_adapter_post(0, 1, &add, at(16), false, 0);
        uccs_far_adapter_post(0, 1, &add, at(16), false, 0);
        CHECK(carrier.count == 2 && carrier.orders == 0);
        uccs_far_adapter_post(0, 1, &add, at(16), true, 0);
        CHECK(carrier.count == (orders ? 3u : 4u) && carrier.left[2].what == (orders ? ATOMIC : FLUSH));
        CHECK(carrier.orders == (unsigned)orders && last_atomic());
        uccs_far_quiet(0);
    }
}

/* The way of each operation, by the memory that it is on and its bytes. */
static void best_ways(void)
{
    begin();
    for (uint32_t segment = FAR_NOWHERE; segment < FAR_SEGMENTS; segment++) {
        const bool keyed = segment == FAR_HEAP || segment == FAR_IMAGE || segment == FAR_REGION;
        static const size_t sizes[] = {0, 1, 2, TRANSPORT_SHORT, TRANSPORT_SHORT + 1};
        for (int i = 0; i < 5; i++) {
            const size_t bytes = sizes[i];
            const enum link_way some = keyed && bytes ? LINK_DIRECT : LINK_BY_MESSAGE;
            const bool large = keyed && bytes > TRANSPORT_SHORT;
            CHECK(far_way(FAR_PUTS, segment, bytes) == some && far_way(FAR_GETS, segment, bytes) == some);
            CHECK(far_way(FAR_PUTS_AND_TELLS, segment, bytes) == (large ? LINK_DIRECT_TELL : LINK_BY_MESSAGE));
            CHECK(far_way(FAR_GETS_AND_TELLS, segment, bytes) == (large ? LINK_DIRECT : LINK_BY_MESSAGE));
        }
    }
    link_has_direct = false;
    CHECK(far_way(FAR_PUTS, FAR_HEAP, 8) == LINK_BY_MESSAGE);
}

static void add_one(void *unused)
{
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};
    (void)unused;
    uccs_far_adapter_post(0, 1, &add, at(16), false, 0);
}

static void end_badly(void *unused)
{
    (void)unused;
    carrier_end(carrier_last()->token, true);
}

/* There is no other way for them. */
static void failures(void)
{
    begin();
    carrier.look = serve;
    no_key = true;
    const char *why = world_try(add_one, 0);
    CHECK(why && strcmp(why, "the network cannot reach memory of PE 1 for an atomic") == 0);
    no_key = false;
    begin();
    carrier.look = serve;
    carrier.able = TRANSPORT_KNOWN;
    why = world_try(add_one, 0);
    CHECK(why && strcmp(why, "the network's atomics do not reach PE 1") == 0);
    begin();
    carrier.look = serve;
    CHECK(!world_try(add_one, 0));
    why = world_try(end_badly, 0);
    CHECK(why && strcmp(why, "an atomic of the network on memory of PE 1 has failed") == 0);
    carrier_reset();
}

/* --- Memory that peers lend */

static unsigned reached;

static size_t lend(int fd, uint64_t offset, size_t bytes, void *room)
{
    (void)fd, (void)offset, (void)bytes;
    memset(room, 'l', TRANSPORT_LENT);
    return 9;
}

static void *reach(const void *lent, size_t bytes, size_t *length)
{
    CHECK(bytes == 9 && memcmp(lent, "lllllllll", 9) == 0);
    *length = 1; /* not as large as this PE's */
    reached++;
    return &reached;
}

static void leave(void *start, size_t bytes)
{
    CHECK(start == &reached && bytes == 1);
    reached--;
}

static void put(int pe)
{
    uccs_far_flag(pe, 64, 0, false);
}

static unsigned asked(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < carrier.count; i++)
        count += carrier.left[i].header.kind == LINK_REACH;
    return count;
}

static void lent_memory(void)
{
    begin();
    carrier_transport.lend = lend;
    carrier_transport.reach = reach;
    carrier_transport.leave = leave;
    CHECK(uccs_reach_open() == 0);
    carrier.able = 0;
    put(1);
    CHECK(asked() == 0);
    link_maps = true;
    put(1);
    CHECK(asked() == 0 && !peer()->asked_reach); /* it is not known yet */
    carrier.able = TRANSPORT_KNOWN;
    put(1);
    CHECK(asked() == 0 && peer()->asked_reach);
    carrier.able |= TRANSPORT_REACHES;
    put(1);
    CHECK(asked() == 0); /* known for good */
    put(2);
    put(2);
    CHECK(asked() == 1 && carrier.left[carrier.count - 2].pe == 2);
    const struct left *question = &carrier.left[carrier.count - 2];
    CHECK(question->header.kind == LINK_REACH && question->header.reach.asker && question->bytes == 0);
    struct uccs_far_lanes on = {0};
    uccs_far_count(&on, 2, 0, 1); /* once for all lanes */
    CHECK(asked() == 1);
    struct link_lent lent = {.row = 1};
    struct link_header h = carrier_answer(question, LINK_REACHED);
    for (int i = 0; i < LINK_LENDS; i++) {
        lent.bytes[i] = i != 3 ? 9 : 0;
        memset(lent.lent[i], 'l', sizeof lent.lent[i]);
    }
    carrier_bring(link_service(), &h, &lent, sizeof lent);
    CHECK(!atomic_load_acquire(&uccs_reach[2].heap) && reached == 3); /* not the globals: its image is another one */
    /* this process lends its own */
    h = (struct link_header){.kind = LINK_REACH, .from = 1, .reach.asker = 8};
    carrier_clear();
    carrier_bring(link_service(), &h, 0, 0);
    (void)link_poll(link_service());
    CHECK(carrier.count >= 1 && left_is(carrier.count - 1, LINK_REACHED, 1) && carrier_last()->bytes == sizeof lent);
    memcpy(&lent, carrier_last()->data, sizeof lent);
    CHECK(carrier_last()->header.reached.asker == 8 && lent.region == uccs_memory_region_start());
    for (int i = 0; i < LINK_LENDS; i++)
        CHECK(lent.bytes[i] == 9 && lent.lent[i][0] == 'l');
}

/* Who would reach a PE with operations under way asks for their answers, on all lanes. */
static void wanted_memory(void)
{
    struct uccs_far_lanes on = {0};
    carrier_reset();
    link_maps = true;
    carrier.able = TRANSPORT_KNOWN;
    uccs_far_count(0, 1, 0, 1);
    uccs_far_count(&on, 1, 0, 1);
    CHECK(uccs_reach[1].busy == 2 && peer()->busy);
    for (unsigned i = 0; i < carrier.count; i++)
        CHECK(carrier.left[i].header.kind != LINK_FLUSH);
    const uint32_t freed = link_reach_freed;
    uccs_far_count(0, 1, 0, 1);
    CHECK(link_reach_freed == freed);
    uccs_reach[1].wanted = 1;
    uccs_far_count(0, 1, 0, 1);
    CHECK(link_reach_freed == freed + 1 && carrier_last()->header.kind == LINK_FLUSH && carrier_last()->lane == 0);
    struct left *first = carrier_last();
    (void)link_poll(on.own);
    CHECK(carrier_last()->header.kind == LINK_FLUSH && carrier_last()->lane == 3 && on.own->freed == freed + 1);
    const unsigned count = carrier.count;
    (void)link_poll(on.own);
    CHECK(carrier.count == count);
    carrier_flushed(first, 0, 0, 0);
    CHECK(uccs_reach[1].busy == 1 && !peer()->busy && uccs_reach[1].wanted == 1);
    carrier_flushed(&carrier.left[count - 1], 0, 0, 0);
    CHECK(uccs_reach[1].busy == 0 && uccs_reach[1].wanted == 0);
    uccs_reach_close(leave);
    CHECK(reached == 0);
    link_maps = false;
    carrier_reset();
}

int main(void)
{
    carrier_open();
    all_atomics();
    words();
    completion();
    reminders();
    behind();
    failures();
    best_ways();
    lent_memory();
    wanted_memory();
    _exit(0);
}
