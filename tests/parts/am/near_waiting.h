/* What waits in near.c: messages without a handler, payloads that are kept, and replies without room. */
#ifndef TESTS_TRUST_NEAR_WAITING_H
#define TESTS_TRUST_NEAR_WAITING_H

#include "near_stub.h"

/* --- Messages that are parked */

static void park(uint64_t ticket)
{
    const struct uccs_message message = {.id = ID, .length = (uint32_t)ticket};
    uccs_park(4, 1, ticket, &message, 0);
    CHECK(!owned_held);
}

/* They are taken by their tickets, whatever order they are parked in. */
static void test_tickets(void)
{
    static const uint64_t orders[][4] = {{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 4, 1, 3}, {3, 1, 4, 2}, {1, 4, 2, 3}};
    struct uccs_message message;
    struct uccs_block *copy;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (int k = 0; k < 4; k++) {
            CHECK(uccs_park_empty(4, 1) == (k == 0) && uccs_own_mine()->parked[4] == (uint32_t)k);
            park(orders[i][k]);
        }
        CHECK(uccs_parked[4][1] == 4 && uccs_park_empty(4, 0) && uccs_park_empty(3, 1) &&
              !uccs_park_take_any(4, 0, &message, &copy));
        for (uint64_t ticket = 1; ticket <= 3; ticket++)
            CHECK(uccs_park_take_any(4, 1, &message, &copy) && message.length == ticket && !copy && !owned_held);
        park(5); /* behind the last one */
        CHECK(uccs_park_take_any(4, 1, &message, &copy) && message.length == 4);
        CHECK(uccs_park_take_any(4, 1, &message, &copy) && message.length == 5);
        CHECK(!uccs_park_take_any(4, 1, &message, &copy) && uccs_park_empty(4, 1) && !queues[4][1].last);
        CHECK(uccs_own_mine()->parked[4] == 0 && owned_count == 0 && !owned_held);
    }
    owned_left = 0;
    OWNED_FAILS(park(1), "no memory to keep a message of PE 0 for handler 5 of context 4");
}

/* A message without a handler waits, and those behind it in its ring do, too. */
static void test_unregistered(void)
{
    static char payload[500] = "big";
    logged[0] = 0;
    CHECK(sends(20, UCCS_AM_USER, "1", 1, 0) == UCCS_OK && sends(ID, UCCS_AM_USER, "2", 1, 0) == UCCS_OK);
    CHECK(sends(21, UCCS_AM_USER, payload, sizeof payload, 0) == UCCS_OK &&
          sends(20, UCCS_AM_USER, "4", 1, 0) == UCCS_OK);
    CHECK(sends(ID + 1, UCCS_AM_NETWORK_PROTOCOL, "n", 1, 0) == UCCS_OK);
    CHECK(runs("n") && uccs_parked[3][UCCS_RING_USER] == 1 && uccs_own_of(1)->parked[3] == 1 && debtor(3) == 1);
    CHECK(runs("") && uccs_parked[3][UCCS_RING_USER] == 1 && logged[0] == 0);
    is_late = true;
    CHECK(runs("") && strcmp(logged, "late 0 20 3") == 0);
    is_late = false;
    handles(20, UCCS_AM_USER, note);
    CHECK(runs("12") && uccs_parked[3][UCCS_RING_USER] == 1 && !blocks_sent[0]->done);
    CHECK(!uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    handles(21, UCCS_AM_USER, note);
    CHECK(runs("b4") && blocks_sent[0]->done && uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    CHECK(uccs_parked[3][UCCS_RING_USER] == 0 && uccs_own_of(1)->parked[3] == 0);
    clear();
}

/* --- What a handler may do with its message */

static int reply_status;
static char reply_text[UCCS_MEDIUM_MAX + 1] = "answer";
static size_t reply_length;
static enum uccs_am_class reply_class;

static void reply_to(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)payload, (void)length, (void)argument;
    reply_status = uccs_am_reply(token, 30, reply_class, reply_text, reply_length);
    if (reply_status == UCCS_OK)
        CHECK(uccs_am_reply(token, 30, reply_class, reply_text, reply_length) == UCCS_ERR_STATE); /* once */
}

static void test_reply_of(enum uccs_am_class cls, size_t length, int status)
{
    struct ring *ring = uccs_own_ring(0, 3, cls == UCCS_AM_USER ? USER_REPLY : UCCS_RING_REPLY);
    uint64_t ticket;
    reply_class = cls;
    reply_length = length;
    reply_status = 99;
    CHECK(sends(29, UCCS_AM_USER, "?", 1, 0) == UCCS_OK && runs("") && reply_status == status);
    const struct uccs_message *cell = ring_take(ring, &ticket);
    CHECK((cell != 0) == (status == UCCS_OK));
    if (!cell)
        return;
    CHECK(cell->id == 30 && cell->source == 1 && cell->length == length && !cell->counter);
    CHECK(length <= UCCS_SHORT_MAX || last_room == UCCS_ROOM_LIBRARY);
    struct uccs_block *block = uccs_am_block_of(cell);
    CHECK((block != 0) == (length > UCCS_SHORT_MAX) &&
          memcmp(block ? block->payload : cell->payload, reply_text, length) == 0);
    if (block)
        uccs_am_mark_done(block);
    ring_release(ring, ticket);
    uccs_own_of(0)->handled[3][uccs_thread()].count++; /* both PEs count on one table what they have sent */
}

static void test_reply_waits(void)
{
    const struct uccs_op nowait = {.nowait = 1};
    become(1);
    for (int i = 0; i < OWN_RING_CELLS; i++) {
        struct uccs_sending s;
        uccs_sending_start(&s, 0, UCCS_RING_REPLY, ID + 1);
        s.stream = 0;
        CHECK(uccs_am_post(&s, &world, &nowait) == UCCS_OK);
    }
    become(0);
}

/* A reply that finds no room waits, and only replies are served meanwhile. */
static void take_one_reply(void)
{
    uint64_t ticket;
    if (yields == 3 && ring_take(uccs_own_ring(0, 3, UCCS_RING_REPLY), &ticket))
        ring_release(uccs_own_ring(0, 3, UCCS_RING_REPLY), ticket);
}

static void test_full_replies(void)
{
    struct ring *ring = uccs_own_ring(0, 3, UCCS_RING_REPLY);
    uint64_t ticket;
    test_reply_waits();
    uccs_poll_table[UCCS_POLL_ALWAYS][0] = poll_others;
    while_waits = take_one_reply;
    yields = polls_of_others = 0;
    reply_class = UCCS_AM_NETWORK_PROTOCOL;
    reply_length = 3;
    CHECK(sends(29, UCCS_AM_USER, "?", 1, 0) == UCCS_OK);
    CHECK(sends(ID, UCCS_AM_USER, "u", 1, 0) == UCCS_OK &&
          sends(ID + 1, UCCS_AM_NETWORK_PROTOCOL, "n", 1, 0) == UCCS_OK);
    CHECK(runs("nu") && reply_status == UCCS_OK && yields == 3 && polls_of_others == 3);
    while_waits = 0;
    uccs_poll_table[UCCS_POLL_ALWAYS][0] = 0;
    while (ring_take(ring, &ticket))
        ring_release(ring, ticket);
    uccs_own_of(0)->handled[3][uccs_thread()].count += OWN_RING_CELLS + 1;
    clear();
}

static uccs_am_token_t any_token(void)
{
    static const struct uccs_message message;
    static struct uccs_am_token token = {.context = &world, .message = &message};
    return &token;
}

static void test_replies(void)
{
    handles(29, UCCS_AM_USER, reply_to);
    static const size_t good[] = {0, 1, UCCS_SHORT_MAX, UCCS_SHORT_MAX + 1, UCCS_MEDIUM_MAX};
    for (size_t i = 0; i < 2 * sizeof good / sizeof *good; i++)
        test_reply_of(i % 2 ? UCCS_AM_USER : UCCS_AM_NETWORK_PROTOCOL, good[i / 2], UCCS_OK);
    test_reply_of(UCCS_AM_USER, UCCS_MEDIUM_MAX + 1, UCCS_ERR_TOO_LARGE);
    test_reply_of((enum uccs_am_class)2, 1, UCCS_ERR_INVALID);
    CHECK(uccs_am_reply(any_token(), 1, UCCS_AM_USER, "x", 1) == UCCS_ERR_STATE); /* outside of a handler */
    uccs_handlers_running = 1;
    CHECK(uccs_am_reply(0, 1, UCCS_AM_USER, "x", 1) == UCCS_ERR_INVALID);
    CHECK(uccs_am_reply(any_token(), -1, UCCS_AM_USER, "x", 1) == UCCS_ERR_INVALID);
    CHECK(uccs_am_reply(any_token(), UCCS_AM_HANDLERS, UCCS_AM_USER, "x", 1) == UCCS_ERR_INVALID);
    CHECK(uccs_am_reply(any_token(), 1, UCCS_AM_USER, 0, 1) == UCCS_ERR_INVALID);
    any_token()->reply = true;
    CHECK(uccs_am_reply(any_token(), 1, UCCS_AM_USER, "x", 1) == UCCS_ERR_STATE);
    any_token()->reply = false;
    any_token()->replied = true;
    CHECK(uccs_am_reply(any_token(), 1, UCCS_AM_USER, "x", 1) == UCCS_ERR_STATE);
    any_token()->replied = false;
    uccs_handlers_running = 0;
    CHECK(uccs_am_source(0) == -1 && uccs_am_context(0) == 0);
    (void)test_collect();
    test_full_replies();
}

static uccs_payload_t kept;
static int keep_status;

static void keep_it(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)argument;
    owned_left = length == 7 ? 0 : -1;
    keep_status = uccs_am_keep(token, &kept);
    if (keep_status == UCCS_OK) {
        CHECK(kept->length == length && memcmp(kept->data, payload, length) == 0);
        CHECK(uccs_am_keep(token, &kept) == UCCS_ERR_STATE); /* once */
    }
}

static void test_kept_payloads(void)
{
    static char payload[300] = "kept";
    handles(31, UCCS_AM_USER, keep_it);
    for (size_t length = 0; length <= sizeof payload; length += length < 4 ? 1 : 74) {
        kept = 0;
        CHECK(sends(31, UCCS_AM_USER, payload, length, 0) == UCCS_OK && runs("") && keep_status == UCCS_OK);
        CHECK(owned_count == 1 && memcmp(kept->data, payload, length) == 0 &&
              uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
        CHECK(length <= UCCS_SHORT_MAX ? blocks_out == 0
                                       : !blocks_sent[0]->done && kept->data == blocks_sent[0]->payload);
        uccs_payload_done(kept);
        CHECK(owned_count == 0 && (length <= UCCS_SHORT_MAX || blocks_sent[0]->done));
        clear();
    }
    CHECK(sends(31, UCCS_AM_USER, payload, 7, 0) == UCCS_OK && runs("") && keep_status == UCCS_ERR_NO_MEMORY);
    const struct uccs_message message = {.length = 3};
    struct uccs_am_token token = {.message = &message, .outcome = UCCS_AM_PENDING};
    CHECK(uccs_am_keep(&token, &kept) == UCCS_ERR_STATE && uccs_am_keep(0, &kept) == UCCS_ERR_INVALID);
    token.outcome = UCCS_AM_HANDLED;
    CHECK(uccs_am_keep(&token, 0) == UCCS_ERR_INVALID);
    token.whole = malloc(sizeof *token.whole + 9);
    token.whole->bytes = 9;
    const char *whole = token.whole->payload;
    CHECK(uccs_am_keep(&token, &kept) == UCCS_OK && kept->data == whole && kept->length == 9 && !token.whole);
    CHECK(owned_count == 2);
    uccs_payload_done(kept);
    uccs_payload_done(0);
    clear();
}

static void test_held_blocks(void)
{
    struct uccs_message message = {.block = UCCS_NO_BLOCK};
    struct uccs_am_token token = {.message = &message};
    CHECK(!uccs_am_block_of(&message) && !uccs_am_hold(&token) && token.outcome == UCCS_AM_HANDLED);
    struct uccs_block *block = test_get(UCCS_ROOM_PROGRAM, 1);
    message.block = (uint64_t)((char *)block - regions[0]);
    CHECK(uccs_am_block_of(&message) == block);
    message.source = 1;
    CHECK((char *)uccs_am_block_of(&message) == regions[1] + message.block);
    CHECK(is_own(block) && !is_own((struct uccs_block *)(regions[1] + HIGH)));
    token.block = block;
    CHECK(uccs_am_hold(&token) == block && token.outcome == UCCS_AM_HELD && !block->done);
    uccs_am_done(block);
    CHECK(block->done == 1 && far_done == 0);
    struct uccs_block packet = {.kept = UCCS_KEPT_PACKET}, *copy = aligned_alloc(64, sizeof *copy);
    *copy = (struct uccs_block){.kept = UCCS_KEPT_COPY};
    uccs_am_done(&packet);
    CHECK(far_done == 1 && !packet.done);
    uccs_am_done(copy);
    CHECK(owned_count == 0 && far_done == 1);
    test_put(block);
    clear();
}

static void test_waiting(void)
{
    test_tickets();
    test_unregistered();
    test_replies();
    test_kept_payloads();
    test_held_blocks();
}

#endif
