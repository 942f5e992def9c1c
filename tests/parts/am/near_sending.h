/* The sending half of near.c: what a message says, rings and rooms that are full, options, order, and who owes. */
#ifndef TESTS_TRUST_NEAR_SENDING_H
#define TESTS_TRUST_NEAR_SENDING_H

#include "near_stub.h"

static struct uccs_message seen;
static char seen_bytes[9000];
static bool seen_reply;

static void see(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)argument;
    memcpy(&seen, token->message, offsetof(struct uccs_message, payload));
    memcpy(seen_bytes, payload, length);
    CHECK(seen.length == length && (payload == token->message->payload) == !seen.staged);
    seen_reply = token->reply;
}

static bool all_are(const char *bytes, size_t count, char what)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != what)
            return false;
    return true;
}

/* Short payloads go in the cell, longer ones in a block, which is done when the handler has returned. */
static void test_content(void)
{
    static const size_t sizes[] = {0, 1, UCCS_SHORT_MAX - 1, UCCS_SHORT_MAX, UCCS_SHORT_MAX + 1, 8192};
    static char payload[8193];
    handles(9, UCCS_AM_USER, see);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uccs_request_handle local = UCCS_REQUEST_NULL, request = UCCS_REQUEST_CLEAN;
        struct uccs_op op = {.local = &local,
                             .counter = i ? 40 : 0,
                             .weight = i > 1 ? -7 : 0,
                             .request = i % 2 ? &request : 0};
        const bool staged = sizes[i] > UCCS_SHORT_MAX;
        memset(payload, (int)i + 1, sizes[i]);
        counted = 0;
        seen.length = 99999;
        CHECK(sends(9, UCCS_AM_USER, payload, sizes[i], &op) == UCCS_OK && local == UCCS_REQUEST_CLEAN);
        CHECK(blocks_out == (size_t)(staged || i % 2) && blocks_under_way == blocks_out && begun == (int)i % 2);
        CHECK(!blocks_out || (blocks_sent[0]->request == (i % 2 ? &ending : 0) && blocks_sent[0]->to == 1));
        CHECK(!blocks_out || (!blocks_sent[0]->done && last_room == UCCS_ROOM_PROGRAM && !blocks_sent[0]->landed));
        CHECK(!blocks_out || blocks_sent[0]->capacity == (staged ? sizes[i] : 0));
        memset(payload, 'x', sizes[i]); /* it is mine again */
        CHECK(!uccs_am_settled(&world, UCCS_SCOPE_PROCESS) && runs("") && uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
        CHECK(seen.length == sizes[i] && seen.staged == staged && seen.source == 0 && seen.id == 9);
        CHECK(all_are(seen_bytes, sizes[i], (char)(i + 1)) && !seen_reply);
        CHECK((seen.block != UCCS_NO_BLOCK) == (staged || i % 2) && seen.lane == uccs_thread());
        CHECK(counted == (i ? 40 : 0) && (!i || counted_weight == (i > 1 ? -7 : 1)));
        CHECK(!blocks_out || blocks_sent[0]->done);
        clear();
    }
}

/* As PE 1, which waits for its own core. */
static void let_receiver_run(void)
{
    become(1);
    (void)uccs_progress();
    become(0);
}

static void test_full_ring(enum uccs_am_class cls, const char *class_words, const char *when)
{
    const struct uccs_op nowait = {.nowait = 1};
    const int id = cls == UCCS_AM_USER ? ID : ID + 1;
    char letters[OWN_RING_CELLS + 3];
    for (int i = 0; i < OWN_RING_CELLS; i++) {
        letters[i] = (char)('a' + i % 26);
        CHECK(sends(id, cls, &letters[i], 1, &nowait) == UCCS_OK);
    }
    CHECK(sends(id, cls, "Y", 1, &nowait) == UCCS_AGAIN && sends(id, cls, letters, 1000, &nowait) == UCCS_AGAIN);
    CHECK(blocks_out == 0 && yields == 0);
    CHECK(!uccs_am_try(1, UCCS_INNER_LETTER, "z", 1, 0) == false); /* another ring */
    is_late = true;
    while_waits = let_receiver_run;
    ran[0] = 0;
    CHECK(sends(id, cls, "Z", 1, 0) == UCCS_OK && yields > 0);
    is_late = false;
    while_waits = 0;
    CHECK(strstr(logged, class_words) && strstr(logged, when) && strstr(logged, "to PE 1 waits") &&
          strstr(logged, "context 3"));
    become(1);
    uccs_am_drain();
    become(0);
    CHECK(strlen(ran) == OWN_RING_CELLS + 1 && memcmp(ran, letters, OWN_RING_CELLS) == 0 && ran[OWN_RING_CELLS] == 'Z');
    CHECK(uccs_am_settled(&world, UCCS_SCOPE_PROCESS) && uccs_am_settled(&world, UCCS_SCOPE_THREAD));
    clear();
}

/* Room for payloads: it may come back, or not. */
static void test_full_room(void)
{
    const struct uccs_op nowait = {.nowait = 1};
    uccs_request_handle request = UCCS_REQUEST_CLEAN;
    const struct uccs_op told = {.request = &request};
    char payload[200] = "p";
    full = 2, expects = 2, is_late = true;
    CHECK(sends(ID, UCCS_AM_USER, payload, sizeof payload, 0) == UCCS_OK && yields == 2);
    CHECK(strstr(logged, "a message of 200 bytes to PE 1 waits, since LATERAL_MEMORY is full"));
    is_late = false;
    full = 1, expects = 1;
    CHECK(sends(ID, UCCS_AM_USER, payload, sizeof payload, &nowait) == UCCS_AGAIN && yields == 2 && full == 0);
    full = 2, expects = 1;
    CHECK(sends(ID, UCCS_AM_USER, payload, sizeof payload, 0) == UCCS_ERR_NO_MEMORY && yields == 3);
    full = 1, expects = 0;
    CHECK(sends(ID, UCCS_AM_USER, payload, sizeof payload, &nowait) == UCCS_ERR_NO_MEMORY);
    full = 1, expects = 0;
    CHECK(sends(ID, UCCS_AM_USER, payload, 1, &told) == UCCS_ERR_NO_MEMORY && cancelled == 1);
    full = expects = 0;
    CHECK(runs("p") && uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    clear();
}

/* Each of the options asks for an ending; one that cannot be had stops the message. */
static void test_options(void)
{
    uccs_request_handle request = UCCS_REQUEST_CLEAN, local = UCCS_REQUEST_NULL;
    const struct uccs_op ops[] = {{.request = &request}, {.complete = (uccs_completion)1}, {.queue = (uccs_queue_t)1}};
    for (int i = 0; i < 3; i++)
        CHECK(sends(ID, UCCS_AM_USER, "o", 1, &ops[i]) == UCCS_OK && begun == i + 1);
    const struct uccs_op none = {.argument = &local, .tag = &local}, stale = {.counter = 66, .local = &local};
    CHECK(sends(ID, UCCS_AM_USER, "n", 1, &none) == UCCS_OK && begun == 3 && blocks_out == 3);
    CHECK(sends(ID, UCCS_AM_USER, "s", 1, &stale) == UCCS_ERR_STALE && local == UCCS_REQUEST_NULL);
    begin_status = UCCS_ERR_NO_MEMORY;
    CHECK(sends(ID, UCCS_AM_USER, "m", 1, &ops[0]) == UCCS_ERR_NO_MEMORY && cancelled == 0);
    begin_status = UCCS_OK;
    CHECK(runs("ooon"));
    clear();
}

/* An ordered message stays behind this thread's operations. */
static void test_order_of(void)
{
    const struct uccs_op wanted = {.ordered = 1}, nowait = {.ordered = 1, .nowait = 1}, loose = {.nowait = 1};
    deferred = true;
    CHECK(sends(ID, UCCS_AM_USER, "a", 1, &loose) == UCCS_OK && ordered == 0);
    CHECK(sends(ID, UCCS_AM_USER, "b", 1, &nowait) == UCCS_AGAIN && ordered == 0);
    CHECK(sends(ID, UCCS_AM_USER, "c", 1, &wanted) == UCCS_OK && ordered == 1);
    stream.attr.ordered = 1;
    CHECK(sends(ID, UCCS_AM_USER, "d", 1, 0) == UCCS_OK && ordered == 2);
    CHECK(sends(ID, UCCS_AM_USER, "e", 1, &loose) == UCCS_AGAIN && ordered == 2);
    deferred = false;
    CHECK(sends(ID, UCCS_AM_USER, "f", 1, &loose) == UCCS_OK && ordered == 3);
    stream.attr.ordered = 0;
    CHECK(sends(ID, UCCS_AM_USER, "g", 1, &nowait) == UCCS_OK && ordered == 4);
    CHECK(runs("acdfg"));
    clear();
}

static void test_checks(void)
{
    const struct uccs_op nowait = {.nowait = 1}, signal = {.signal = (const struct uccs_signal *)1}, plain = {0};
    struct uccs_endpoint silent = to_near;
    silent.context = 0;
    CHECK(uccs_am_check(&to_near, 0, UCCS_AM_USER, "x", 1, 0) == UCCS_OK);
    CHECK(uccs_am_check(&to_near, UCCS_AM_HANDLERS - 1, UCCS_AM_NETWORK_PROTOCOL, 0, 0, &plain) == UCCS_OK);
    CHECK(uccs_am_check(0, 0, UCCS_AM_USER, "x", 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_check(&silent, 0, UCCS_AM_USER, "x", 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_check(&to_near, -1, UCCS_AM_USER, "x", 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_check(&to_near, UCCS_AM_HANDLERS, UCCS_AM_USER, "x", 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_check(&to_near, 0, UCCS_AM_USER, 0, 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_check(&to_near, 0, (enum uccs_am_class)2, "x", 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_check(&to_near, 0, UCCS_AM_USER, "x", 1, &signal) == UCCS_ERR_INVALID);
    uccs_handlers_running = 1;
    CHECK(uccs_am_check(&to_near, 0, UCCS_AM_USER, "x", 1, 0) == UCCS_ERR_STATE);
    CHECK(uccs_am_check(&to_near, 0, UCCS_AM_USER, "x", 1, &plain) == UCCS_ERR_STATE);
    CHECK(uccs_am_check(&to_near, 0, UCCS_AM_USER, "x", 1, &nowait) == UCCS_OK);
    uccs_handlers_running = 0;
}

static void test_forms(void)
{
    static char payload[40000];
    struct uccs_context foreign = {.attr = {.id = 4}};
    payload[0] = 'f';
    CHECK(uccs_am_short(&world, &to_near, ID, UCCS_AM_USER, payload, UCCS_SHORT_MAX, 0) == UCCS_OK);
    CHECK(uccs_am_short(&world, &to_near, ID, UCCS_AM_USER, payload, UCCS_SHORT_MAX + 1, 0) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_am_medium(&world, &to_near, ID, UCCS_AM_USER, payload, UCCS_MEDIUM_MAX, 0) == UCCS_OK);
    CHECK(uccs_am_medium(&world, &to_near, ID, UCCS_AM_USER, payload, UCCS_MEDIUM_MAX + 1, 0) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_am_most() == program_bytes / 2);
    CHECK(uccs_am_large(&world, &to_near, ID, UCCS_AM_USER, payload, program_bytes / 2, 0) == UCCS_OK);
    CHECK(uccs_am_large(&world, &to_near, ID, UCCS_AM_USER, payload, program_bytes / 2 + 1, 0) == UCCS_ERR_TOO_LARGE);
    CHECK(uccs_am_short(0, &to_near, ID, UCCS_AM_USER, payload, 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_large(0, &to_near, ID, UCCS_AM_USER, payload, 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_medium(&foreign, &to_near, ID, UCCS_AM_USER, payload, 1, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_am_short(&world, &to_near, -1, UCCS_AM_USER, payload, 1, 0) == UCCS_ERR_INVALID);
    CHECK(runs("fff"));
    program_bytes = UINT32_MAX;
    CHECK(uccs_am_most() == UINT32_MAX / 2);
    program_bytes = (size_t)1 << 40;
    CHECK(uccs_am_most() == UINT32_MAX / 2);
    program_bytes = 1 << 16;
    clear();
}

/* Messages to other nodes go along the stream's lanes; the library's own along none. */
static void test_far(void)
{
    const struct uccs_op nowait = {.nowait = 1};
    far_has_room = true;
    CHECK(uccs_am_send(&to_far, ID, UCCS_AM_USER, "x", 1, 0) == UCCS_OK && far_pe == 3 && far_on == (void *)&stream);
    CHECK(far_head.length == 1 && far_head.id == ID && far_head.block == UCCS_NO_BLOCK && !far_head.counter);
    CHECK(!uccs_am_settled(&world, UCCS_SCOPE_THREAD));
    CHECK(uccs_am_try(2, UCCS_INNER_LETTER, "x", 1, 0) && far_pe == 2 && !far_on);
    far_has_room = false;
    CHECK(uccs_am_send(&to_far, ID, UCCS_AM_USER, "x", 1, &nowait) == UCCS_AGAIN);
    CHECK(!uccs_am_try(2, UCCS_INNER_LETTER, "x", 1, 0));
    uccs_own_of(0)->handled[3][uccs_thread()].count++; /* as the answer does */
    CHECK(uccs_am_settled(&world, UCCS_SCOPE_THREAD));
    clear();
}

static void test_inner(void)
{
    struct ring *ring = uccs_own_ring(1, OWN_INNER, 0);
    struct uccs_block *block = test_get(UCCS_ROOM_LIBRARY, 3000), *bare = test_get(UCCS_ROOM_LIBRARY, 0);
    const uint64_t before = sent[OWN_INNER][uccs_thread()].count;
    uint64_t ticket;
    CHECK(uccs_am_try(1, UCCS_INNER_OOB, 0, 3000, block) && uccs_am_try(1, UCCS_INNER_LOCK, 0, 0, bare));
    CHECK(uccs_am_try(1, UCCS_INNER_PULL, "abc", 3, 0) && blocks_under_way == 2);
    const struct uccs_message *cell = ring_take(ring, &ticket);
    while (cell && cell->id != UCCS_INNER_OOB) { /* those of test_full_ring */
        ring_release(ring, ticket);
        cell = ring_take(ring, &ticket);
    }
    CHECK(cell->staged && cell->length == 3000 && regions[0] + cell->block == (char *)block && cell->source == 0);
    ring_release(ring, ticket);
    cell = ring_take(ring, &ticket);
    CHECK(!cell->staged && cell->length == 0 && regions[0] + cell->block == (char *)bare &&
          cell->id == UCCS_INNER_LOCK);
    ring_release(ring, ticket);
    cell = ring_take(ring, &ticket);
    CHECK(!cell->staged && cell->block == UCCS_NO_BLOCK && memcmp(cell->payload, "abc", 3) == 0 && !cell->counter);
    ring_release(ring, ticket);
    for (int i = 0; i < OWN_RING_CELLS; i++)
        CHECK(uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0));
    CHECK(!uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0) && !uccs_am_try(1, UCCS_INNER_OOB, 0, 1, bare) &&
          blocks_under_way == 2);
    while ((cell = ring_take(ring, &ticket)))
        ring_release(ring, ticket);
    CHECK(sent[OWN_INNER][uccs_thread()].count == before); /* no flush waits for them */
    block->done = bare->done = 1;
    clear();
}

/* --- Who owes */

static void test_lanes_settled(void)
{
    const uint32_t lane = uccs_thread(), mine = uccs_thread_mine;
    CHECK(sends(ID, UCCS_AM_USER, "x", 1, 0) == UCCS_OK);
    CHECK(!uccs_am_settled(&world, UCCS_SCOPE_THREAD) && !uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    uccs_thread_mine = 0; /* another thread */
    CHECK(uccs_thread() != lane && uccs_am_settled(&world, UCCS_SCOPE_THREAD) &&
          !uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    CHECK(runs("x") && uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    CHECK(sends(ID, UCCS_AM_USER, "y", 1, 0) == UCCS_OK); /* the highest lane */
    uccs_thread_mine = mine;
    CHECK(uccs_am_settled(&world, UCCS_SCOPE_THREAD) && !uccs_am_settled(&world, UCCS_SCOPE_PROCESS) && runs("y"));
    CHECK(uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    clear();
}

/* A message of the next context is not of this one. */
static void test_neighbour(void)
{
    uint64_t ticket;
    uccs_own_open(1, 4);
    (void)ring_reserve(uccs_own_ring(1, 4, 0), &ticket);
    ring_commit(uccs_own_ring(1, 4, 0), ticket);
    CHECK(debtor(4) == 1 && debtor(3) == 3);
    (void)ring_take(uccs_own_ring(1, 4, 0), &ticket);
    ring_release(uccs_own_ring(1, 4, 0), ticket);
}

static void test_debtor(void)
{
    struct uccs_told told = {0};
    CHECK(debtor(3) == -1);
    uccs_am_tell_unsettled(&world);
    CHECK(strstr(logged, "context 3 have been handled") && !strstr(logged, "PE"
                                                                           " 1"));
    uccs_am_tell_debtor(&world, &told);
    CHECK(told.on.about == 0 && strcmp(told.text, "messages") == 0);
    far_debtor = 3;
    CHECK(debtor(3) == 3);
    uccs_am_tell_unsettled(&world);
    CHECK(strstr(logged, "PE 3 has not"));
    for (uint32_t which = 0; which < OWN_RINGS; which++) {
        uint64_t ticket;
        (void)ring_reserve(uccs_own_ring(1, 3, which), &ticket);
        ring_commit(uccs_own_ring(1, 3, which), ticket);
        CHECK(debtor(3) == 1 && debtor(4) == 3);
        (void)ring_take(uccs_own_ring(1, 3, which), &ticket);
        ring_release(uccs_own_ring(1, 3, which), ticket);
        CHECK(debtor(3) == 3);
    }
    uccs_own_of(1)->parked[3] = 1;
    CHECK(debtor(3) == 1);
    uccs_am_tell_debtor(&world, &told);
    CHECK(told.on.about == NODE_ABOUT_PES && told.on.start == 1 && strcmp(told.text, "messages") == 0);
    uccs_own_of(1)->parked[4] = 1; /* of rings that nobody has opened */
    CHECK(debtor(4) == 3);
    uccs_own_of(0)->parked[3] = 1;
    CHECK(debtor(3) == 0);
    uccs_own_of(1)->parked[3] = uccs_own_of(1)->parked[4] = uccs_own_of(0)->parked[3] = 0;
    test_neighbour();
    far_debtor = -1;
    clear();
}

static void test_sending(void)
{
    test_content();
    test_full_ring(UCCS_AM_USER, "class user", "in uccs_progress and the waits of uccs.h alone");
    test_full_ring(UCCS_AM_NETWORK_PROTOCOL, "class network", "in every waiting call");
    test_full_room();
    test_options();
    test_order_of();
    test_checks();
    test_forms();
    test_far();
    test_inner();
    test_lanes_settled();
    test_debtor();
}

#endif
