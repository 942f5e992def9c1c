/* Messages that arrive before others that must come first, long ones whose data comes later, those that are signed, and locks for
 * which a peer waits: each is applied in its turn, once, and answered when it is. */
#include "carrier.h"

#include "base/siphash.h"
#include "rte/rte.h"
#include "uccs/object/ticket.h"

#include <stddef.h>

static char data[65536];

static struct link_origin *origin_of(int pe)
{
    return &link_service()->peers[pe]->origin;
}

static struct link_header from(int pe, enum link_kind kind, size_t offset)
{
    return (struct link_header){.kind = (uint8_t)kind,
                                .from = (uint32_t)pe & 0xffffff,
                                .segment = FAR_HEAP,
                                .at.offset = in_heap(offset).offset};
}

static void bring(const struct link_header *h, const void *with, size_t bytes)
{
    carrier_bring(link_service(), h, with, bytes);
}

/* Brings a message that changes a byte to `value`, after so many others. */
static void put(size_t offset, char value, uint64_t after)
{
    struct link_header h = from(1, LINK_PUT, offset);
    h.after = after;
    bring(&h, &value, 1);
}

static void begin(void)
{
    carrier_reset();
    memset(world_heap, 0, WORLD_ROOM);
}

/* --- Order */

/* Messages wait for as many operations as they name; those that name as many are applied in the order in which they came. */
static void kept(void)
{
    begin();
    put(5, 'x', 5);
    put(3, 'a', 3);
    put(3, 'b', 3);
    put(4, 'c', 4);
    put(1, 'd', 1);
    put(5, 'y', 5);
    CHECK(origin_of(1)->applied == 0 && !world_heap[1] && !world_heap[3] && !world_heap[5]);
    CHECK(origin_of(1)->kept && origin_of(1)->kept->arrival.header.after == 1);
    CHECK(origin_of(1)->last_kept->arrival.header.after == 5);
    put(0, 'e', 0);
    CHECK(origin_of(1)->applied == 2 && world_heap[0] == 'e' && world_heap[1] == 'd' && !world_heap[3]);
    put(0, 'f', 2);
    CHECK(origin_of(1)->applied == 8 && world_heap[0] == 'f' && world_heap[3] == 'b' && world_heap[4] == 'c');
    CHECK(world_heap[5] == 'y' && !origin_of(1)->kept && !origin_of(1)->last_kept);
    put(7, 'g', 9);
    put(7, 'h', 8);
    CHECK(world_heap[7] == 'g' && origin_of(1)->applied == 10);
    struct link_header h = from(1, LINK_FLAG, 0); /* has no order */
    h.segment = FAR_ROWS;
    h.at.offset = 64;
    h.after = 1000;
    bring(&h, 0, 0);
    CHECK(!origin_of(1)->kept);
}

/* A flush is answered when all that it names has been applied, and tells what was refused since the last one, once. */
static void flushes(void)
{
    begin();
    struct link_header flush = {.kind = LINK_FLUSH, .from = 1, .after = 5};
    flush.flush.asker = 66;
    bring(&flush, 0, 0);
    (void)link_poll(link_service());
    CHECK(carrier.count == 0);
    static const uint16_t numbers[] = {0x8001, 0, 3, 0x8001, 0xffff};
    for (int i = 0; i < 5; i++) {
        CHECK(carrier.count == 0);
        struct link_header h = {.kind = LINK_PUT, .from = 1, .number = numbers[i], .segment = FAR_REGION};
        h.at.region = 99; /* no such memory */
        bring(&h, "x", 1);
        (void)link_poll(link_service());
    }
    CHECK(carrier.count == 1 && left_is(0, LINK_FLUSHED, 1) && carrier.left[0].header.flushed.asker == 66);
    CHECK(carrier.left[0].header.flushed.refused == 5 && carrier.left[0].bytes == 6 && origin_of(1)->applied == 5);
    const uint16_t *told = (const uint16_t *)(void *)carrier.left[0].data;
    CHECK(told[0] == 3 && told[1] == 0x8001 && told[2] == 0xffff);
    bring(&flush, 0, 0);
    (void)link_poll(link_service());
    CHECK(carrier.count == 2 && left_is(1, LINK_FLUSHED, 1) && carrier.left[1].bytes == 0);
    CHECK(carrier.left[1].header.flushed.refused == 5);
}

/* What a lane sends before its hello is kept until it comes; its operations are counted by themselves. */
static void hellos(void)
{
    begin();
    struct link_header h = from(1, LINK_PUT, 0), hello = {.kind = LINK_HELLO, .from = 1, .lane = 9};
    h.lane = 9;
    h.after = 1;
    bring(&h, "p", 1);
    h.kind = LINK_GET;
    h.get.asker = 3;
    h.get.bytes = 1;
    h.after = 0;
    bring(&h, 0, 0);
    (void)link_poll(link_service());
    CHECK(world_heap[0] == 0 && carrier.count == 0 && carrier.connects == 0);
    bring(&hello, "address", 7);
    (void)link_poll(link_service());
    const struct link_origin *lane = link_service()->peers[1]->others[9];
    CHECK(world_heap[0] == 'p' && lane->applied == 2 && origin_of(1)->applied == 0);
    CHECK(carrier.count == 1 && left_is(0, LINK_DATA, 1) && carrier.left[0].header.answer.asker == 3);
    CHECK(lane->peer == link_service()->peers[1] && lane->box.pe == 1 && lane->to == &carrier_peers[0]);
}

/* --- Long data */

static bool long_put(size_t offset, uint64_t after, uint64_t region, size_t bytes)
{
    struct link_header h = from(1, LINK_PUT, offset);
    h.after = after;
    if (region) {
        h.segment = FAR_REGION;
        h.at = (struct link_memory){0, region};
    }
    return !carrier_try(link_service(), &h, data, bytes, true);
}

static void long_data(void)
{
    begin();
    memset(data, 'l', sizeof data);
    carrier.receives = TRANSPORT_PENDING;
    CHECK(long_put(8, 0, 0, 2000) && carrier.into == world_heap + 8 && carrier.rest == data && carrier.fetched == 2000);
    put(0, 'b', 1); /* waits until the data is there */
    CHECK(origin_of(1)->applied == 0 && world_heap[0] == 0);
    memcpy(carrier.into, carrier.rest, carrier.fetched);
    carrier_end(carrier.receiver, false);
    CHECK(origin_of(1)->applied == 2 && world_heap[0] == 'b' && world_heap[8] == 'l' && world_heap[2007] == 'l');
    carrier.receives = TRANSPORT_DONE;
    CHECK(long_put(100, 0, 0, 100) && origin_of(1)->applied == 3);
    CHECK(long_put(0, 0, 99, 100) && origin_of(1)->applied == 4 &&
          origin_of(1)->refused == 1); /* fetched all the same */
    CHECK(carrier.fetched == 100);
    CHECK(long_put(16, 5, 0, 50) && carrier.fetched == 100); /* it is not fetched before its turn */
    put(1, 'c', 4);
    CHECK(carrier.fetched == 50 && origin_of(1)->applied == 6);
    carrier.receives = TRANSPORT_FAILED;
    CHECK(!long_put(8, 0, 0, 100));
    begin();
    carrier.receives = TRANSPORT_PENDING;
    CHECK(long_put(8, 0, 0, 100));
    void *token = carrier.receiver;
    carrier_end(token, true); /* the end of the job is told elsewhere */
    CHECK(origin_of(1)->applied == 0);
    free(token);
}

/* --- Signed messages */

struct signed_header {
    struct link_header header;
    struct link_seal seal;
};

/* As src/uccs/link/seal.c says. */
static struct signed_header sign(struct link_header header, uint64_t number, uint32_t to, const void *with,
                                 uint64_t bytes)
{
    struct signed_header made = {header, {.number = number, .data = bytes ? siphash(rte.node->nonce, with, bytes) : 0}};
    struct {
        char what[8];
        uint64_t to, number, bytes, data;
        struct link_header header;
    } facts;
    memset(&facts, 0, sizeof facts);
    memcpy(facts.what, "message", 8);
    facts.to = to;
    facts.number = number;
    facts.bytes = bytes;
    facts.data = made.seal.data;
    facts.header = header;
    made.seal.head = siphash(rte.node->nonce, &facts, sizeof facts);
    return made;
}

static const char *bring_signed(const struct signed_header *made, size_t header_bytes, const void *with, size_t bytes,
                                bool rest)
{
    struct carrier_arrival arrival = {link_service(),
                                      {.header = made,
                                       .header_bytes = header_bytes,
                                       .data = rest ? 0 : with,
                                       .bytes = bytes,
                                       .rest = rest ? (void *)(uintptr_t)with : 0}};
    const char *why = world_try(carrier_arrive, &arrival);
    pthread_mutex_init(&link_service()->lock, 0);
    return why;
}

static bool refused_as(const struct signed_header *made, size_t header_bytes, const void *with, size_t bytes, bool rest,
                       const char *words)
{
    const char *why = bring_signed(made, header_bytes, with, bytes, rest);
    if (!why || !strstr(why, words))
        fprintf(stderr, "\"%s\": %s\n", words, why ? why : "taken");
    return why && strstr(why, words);
}

static bool taken(uint64_t number)
{
    const struct signed_header made = sign(from(1, LINK_PUT, 0), number, 0, "x", 1);
    return !bring_signed(&made, sizeof made, "x", 1, false);
}

static void seals(void)
{
    begin();
    link_sealed = true;
    carrier.receives = TRANSPORT_DONE;
    const struct link_header h = from(1, LINK_PUT, 0);
    struct signed_header made = sign(h, 1, 0, "data", 4), other = made;
    CHECK(refused_as(&made, sizeof h, "data", 4, false, "a message that is not signed has arrived: its header has 64"));
    CHECK(refused_as(&made, sizeof made, "dat!", 4, false, "the data of a message of PE 1 was changed"));
    CHECK(refused_as(&made, sizeof made, "data!", 5, false, "in the name of PE 1 is not signed"));
    for (size_t at = 0; at < offsetof(struct signed_header, seal.data); at++) {
        other = made;
        ((char *)&other)[at] ^= 1;
        CHECK(refused_as(&other, sizeof other, "data", 4, false, "is not signed with the job's key"));
    }
    other = sign(h, 1, 1, "data", 4);
    CHECK(refused_as(&other, sizeof other, "data", 4, false, "is not signed with the job's key"));
    CHECK(!bring_signed(&made, sizeof made, "data", 4, false) && memcmp(world_heap, "data", 4) == 0);
    CHECK(refused_as(&made, sizeof made, "data", 4, false, "message 1 of PE 1 has come twice"));
    made = sign(h, 2, 0, "long", 4);
    CHECK(refused_as(&made, sizeof made, "lone", 4, true, "the data of a message of PE 1 was changed"));
    CHECK(memcmp(world_heap, "data", 4) == 0 && carrier.into != world_heap); /* wrong data never is in place */
    made = sign(h, 3, 0, "long", 4);
    CHECK(!bring_signed(&made, sizeof made, "long", 4, true) && memcmp(world_heap, "long", 4) == 0);
    CHECK(taken(40) && taken(20) && !taken(20) && taken(4) && taken(39) && !taken(40) && taken(41) && !taken(3));
    for (uint64_t number = 5; number < 39; number++)
        CHECK(taken(number) == (number != 20));
    CHECK(taken(41 + 65536) && !taken(41 + 2 * 65536 + 1) && taken(41 + 65535));
    link_sealed = false;
}

/* What leaves has the number of its connection, the signature of its data, and a copy of it. */
static void sealed(void)
{
    begin();
    link_sealed = true;
    memset(data, 'z', 9000);
    for (int i = 0; i < 2; i++)
        uccs_far_put_nb(0, 1, in_heap(0), data, 9000, 0, 0);
    uccs_far_put_nb(0, 2, in_heap(0), data, 8, 0, 0);
    (void)link_poll(link_service());
    link_sealed = false;
    CHECK(carrier.count == 3 && link_service()->peers[1]->box.sealed == 2 && link_service()->peers[2]->box.sealed == 1);
    for (unsigned i = 0; i < 3; i++) {
        const struct left *left = &carrier.left[i];
        const struct signed_header made =
            sign(left->header, i == 1 ? 2 : 1, (uint32_t)left->pe, left->data, left->bytes);
        CHECK(left->seal.number == made.seal.number && left->seal.data == made.seal.data);
        CHECK(left->seal.head == made.seal.head);
    }
}

/* --- Locks for which peers wait */

static struct uccs_ticket_lock *lock(int number)
{
    return (struct uccs_ticket_lock *)(void *)(world_heap + (64 - (uintptr_t)world_heap % 64) % 64 + 64 * number);
}

static void ask(int pe, enum link_kind kind, const struct uccs_ticket_lock *of, enum uccs_lock_mode mode,
                uint64_t asker)
{
    struct link_header h = from(pe, kind, (size_t)((const char *)of - world_heap));
    h.amo.what = (uint8_t)mode;
    h.amo.asker = asker;
    bring(&h, 0, 0);
    (void)link_poll(link_service());
}

/* Returns true when this message, the n-th, gives the PE what it has asked for. */
static bool given(unsigned n, int pe, uint64_t asker, bool failed)
{
    return carrier.count == n && left_is(n - 1, LINK_LOCKED, pe) && carrier_last()->header.answer.asker == asker &&
           carrier_last()->header.answer.failed == failed;
}

static void locks(void)
{
    begin();
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 10);
    CHECK(given(1, 1, 10, false) && lock(0)->writer == 2 && !(lock(0)->word & TICKET_FAR));
    ask(2, LINK_LOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 20);
    CHECK(carrier.count == 1 && lock(0)->word & TICKET_FAR);
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_SHARED, 11);
    ask(2, LINK_LOCK, lock(0), UCCS_LOCK_SHARED, 21);
    CHECK(carrier.count == 1);
    ask(1, LINK_UNLOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 0);
    CHECK(given(2, 2, 20, false) && lock(0)->writer == 3 && lock(0)->word & TICKET_FAR && origin_of(1)->applied == 1);
    ask(2, LINK_UNLOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 0);
    CHECK(carrier.count == 4 && !(lock(0)->word & TICKET_FAR) && lock(0)->writer == 3);
    CHECK(carrier.left[2].header.answer.asker + carrier.left[3].header.answer.asker == 32);
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_SHARED, 12); /* readers enter at once */
    CHECK(given(5, 1, 12, false) && !(lock(0)->word & TICKET_FAR));
    ask(2, LINK_LOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 22);
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_SHARED, 13); /* not past a writer that waits */
    for (int i = 0; i < 3; i++) {
        CHECK(carrier.count == 5);
        ask(1, LINK_UNLOCK, lock(0), UCCS_LOCK_SHARED, 0);
    }
    CHECK(given(6, 2, 22, false) && lock(0)->word & TICKET_FAR);
    (void)uccs_ticket_leave(lock(0), UCCS_LOCK_EXCLUSIVE); /* as a PE of this node does, which tells its owner */
    CHECK(carrier.count == 6);
    uccs_far_lock_grant();
    CHECK(given(7, 1, 13, false) && carrier_last()->header.after == 0 && !uccs_far_touched);
    uccs_far_lock_grant();
    CHECK(carrier.count == 7 && !(lock(0)->word & TICKET_FAR));
}

/* Guests, and two locks at a time: each keeps its own marks. */
static void guests(void)
{
    begin();
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_GUEST, 10);
    CHECK(given(1, 1, 10, true)); /* it admits none */
    lock(0)->guests = lock(1)->guests = TICKET_ADMITTED;
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_GUEST, 11);
    CHECK(given(2, 1, 11, false) && lock(0)->guests == (TICKET_ADMITTED | 1));
    ask(2, LINK_LOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 20);
    ask(2, LINK_LOCK, lock(1), UCCS_LOCK_EXCLUSIVE, 21);
    CHECK(given(3, 2, 21, false) && lock(0)->word & TICKET_FAR && !(lock(1)->word & TICKET_FAR));
    ask(1, LINK_LOCK, lock(1), UCCS_LOCK_GUEST, 12);
    CHECK(carrier.count == 3 && lock(1)->guests & TICKET_GUESTS_WAIT && !(lock(1)->word & TICKET_FAR));
    ask(1, LINK_UNLOCK, lock(0), UCCS_LOCK_GUEST, 0);
    CHECK(given(4, 2, 20, false) && !(lock(0)->word & TICKET_FAR) && lock(1)->guests & TICKET_GUESTS_WAIT);
    ask(1, LINK_LOCK, lock(0), UCCS_LOCK_GUEST, 13);
    ask(2, LINK_UNLOCK, lock(1), UCCS_LOCK_EXCLUSIVE, 0);
    CHECK(given(5, 1, 12, false) && !(lock(1)->guests & TICKET_GUESTS_WAIT));
    CHECK(lock(0)->guests & TICKET_GUESTS_WAIT && lock(1)->guests == (TICKET_ADMITTED | 1));
    ask(2, LINK_UNLOCK, lock(0), UCCS_LOCK_EXCLUSIVE, 0);
    CHECK(given(6, 1, 13, false) && lock(0)->guests == (TICKET_ADMITTED | 1));
}

/* Memory that cannot hold a lock. */
static void no_locks(void)
{
    begin();
    const struct uccs_ticket_lock *apart = (const struct uccs_ticket_lock *)(void *)((char *)lock(0) + 8);
    ask(1, LINK_LOCK, apart, UCCS_LOCK_SHARED, 10);
    CHECK(given(1, 1, 10, true));
    ask(1, LINK_UNLOCK, apart, UCCS_LOCK_SHARED, 0);
    CHECK(lock(0)->word == 0 && carrier.count == 1);
    struct link_header h = {.kind = LINK_LOCK, .from = 1, .segment = FAR_REGION, .at.region = 99};
    h.amo.asker = 11;
    bring(&h, 0, 0);
    (void)link_poll(link_service());
    CHECK(given(2, 1, 11, true) && origin_of(1)->refused == 0);
}

/* The other side: a lock of a peer. A quiet does not wait for it. */
static void asked_locks(void)
{
    struct uccs_request all = {.pending = 1};
    begin();
    uccs_far_lock(1, in_heap(64), UCCS_LOCK_EXCLUSIVE, &all);
    CHECK(all.pending == 2 && carrier.count == 1 && left_is(0, LINK_LOCK, 1));
    const struct link_header *h = &carrier.left[0].header;
    CHECK(h->amo.what == UCCS_LOCK_EXCLUSIVE && h->asker && h->at.offset == in_heap(64).offset && h->after == 0);
    CHECK(link_token_awaited(&link_service()->tokens, 0) == -1 &&
          link_token_awaited(&link_service()->tokens, &all) == 1);
    uccs_far_quiet(0);
    struct link_header answer = carrier_answer(&carrier.left[0], LINK_LOCKED);
    bring(&answer, 0, 0);
    CHECK(all.pending == 1 && !all.error && link_token_awaited(&link_service()->tokens, &all) == -1);
    uccs_far_lock(2, in_heap(64), UCCS_LOCK_SHARED, &all);
    CHECK(carrier.left[1].header.amo.what == UCCS_LOCK_SHARED && carrier.left[1].pe == 2);
    answer = carrier_answer(&carrier.left[1], LINK_LOCKED);
    answer.answer.failed = 1;
    bring(&answer, 0, 0);
    CHECK(all.pending == 1 && all.error == 1);
    uccs_far_unlock(1, in_heap(64), UCCS_LOCK_EXCLUSIVE);
    CHECK(left_is(2, LINK_UNLOCK, 1) && link_service()->peers[1]->issued.messages == 1 && uccs_far_touched);
    CHECK(carrier.left[2].header.amo.what == UCCS_LOCK_EXCLUSIVE);
}

/* --- Tokens: each is good once, for its PE and its kind, also when its entry has had others and the table has grown */

static void tokens(void)
{
    enum { MANY = 100 };
    static int things[MANY];
    struct link_tokens table = {0};
    uint64_t given_out[MANY];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            given_out[i] = link_token_give(&table, &things[i], i % 3, LINK_DATA);
            CHECK(given_out[i] && (uint32_t)given_out[i] <= table.room);
        }
        CHECK(table.room == 128);
        for (int i = 0; i < MANY; i++) {
            CHECK(!link_token_try(&table, given_out[i], i % 3 + 1, LINK_DATA));
            CHECK(!link_token_try(&table, given_out[i], i % 3, LINK_KEYED));
            CHECK(!link_token_try(&table, given_out[i] + (UINT64_C(1) << 32), i % 3, LINK_DATA));
            CHECK(link_token_try(&table, given_out[i], i % 3, LINK_DATA) == &things[i]);
            CHECK(!link_token_try(&table, given_out[i], i % 3, LINK_DATA));
        }
    }
    CHECK(!link_token_try(&table, 0, 0, LINK_DATA) && !link_token_try(&table, 129, 0, LINK_DATA));
    const uint64_t last = link_token_give(&table, things, 2, LINK_FLUSHED);
    CHECK(link_token_awaited(&table, 0) == 2 && link_token_take(&table, last, 2, LINK_FLUSHED) == things);
    CHECK(link_token_awaited(&table, 0) == -1);
    for (uint32_t i = 0; i < 70000; i++)
        CHECK((uint32_t)link_token_give(&table, things, 2, LINK_FLUSHED) <= table.room);
    CHECK(table.room == 131072); /* a process may have asked more than 65,536 questions */
    link_token_close(&table);
    CHECK(!table.entries && !table.room && !table.free);
}

int main(void)
{
    carrier_open();
    kept();
    flushes();
    hellos();
    long_data();
    seals();
    sealed();
    locks();
    guests();
    no_locks();
    asked_locks();
    tokens();
    _exit(0);
}
