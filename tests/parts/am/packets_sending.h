/* The sending half of packets.c: what a message says, credits of messages and bytes, blocks, and who owes. */
#ifndef TESTS_TRUST_PACKETS_SENDING_H
#define TESTS_TRUST_PACKETS_SENDING_H

#include "packets_stub.h"

static bool send_of(int pe, uint32_t which, size_t bytes)
{
    static char payload[(1 << 20) + 2];
    const struct uccs_message head = {.length = (uint32_t)bytes, .lane = LANE};
    const int before = issued;
    last.buffer = 0;
    const bool sent = uccs_far_am_try(&lanes, pe, CONTEXT, which, &head, payload, 0);
    CHECK(issued == before + sent);
    if (sent)
        free(last.buffer);
    return sent;
}

static void hear(struct link_header header)
{
    struct link_arrival arrival = {.header = header};
    header.kind = LINK_AM_DONE;
    handlers[LINK_AM_DONE]->landed(&arrival);
}

static struct link_header done_of(int pe, uint32_t which, uint32_t count, uint64_t bytes)
{
    return (struct link_header){.from = (uint32_t)pe,
                                .am_done = {.count = count,
                                            .bytes = bytes,
                                            .context = CONTEXT,
                                            .ring = (uint8_t)which,
                                            .lane = LANE}};
}

static void test_content(void)
{
    const struct uccs_message head = {.length = 5, .id = 7, .lane = LANE, .counter = 77, .weight = -3};
    const char payload[] = "hello";
    struct link_track *track = (struct link_track *)&lane;
    lanes.track = track;
    CHECK(uccs_far_am_try(&lanes, PEER, CONTEXT, 2, &head, payload, 0));
    CHECK(issued == 1 && issued_to == PEER && (char *)issued_on == &lane);
    CHECK(last.header.kind == LINK_AM && last.header.am.number == 1 && last.header.am.block == 0);
    CHECK(last.header.am.counter == 77 && last.header.am.weight == -3 && last.header.am.context == CONTEXT);
    CHECK(last.header.am.ring == 2 && last.header.am.lane == LANE && last.header.am.id == 7 && !last.header.am.staged);
    CHECK(last.bytes == 5 && last.data != payload && last.buffer == last.data && memcmp(last.data, "hello", 5) == 0);
    CHECK(owned_bytes(last.buffer) == 5);
    CHECK(!last.left && !last.cookie && last.track == track && last.counts && !last.request && !last.flag);
    free(last.buffer);
    lanes.track = 0;
    CHECK(send_of(PEER, 2, 0) && last.header.am.number == 2 && !last.bytes && !last.buffer && !last.track);
    CHECK(send_of(PEER, 1, 0) && last.header.am.number == 1); /* another flow */
    CHECK(send_of(OTHER, 2, 0) && last.header.am.number == 1 && issued_to == OTHER);
    busy = true;
    CHECK(!send_of(PEER, 2, 0));
    busy = false;
    CHECK(send_of(PEER, 2, 0) && last.header.am.number == 3); /* the busy one took no number */
    hear(done_of(PEER, 2, 3, 5));
    hear(done_of(PEER, 1, 1, 0));
    hear(done_of(OTHER, 2, 1, 0));
    owned_left = 0;
    OWNED_FAILS(send_of(PEER, 2, 1), "no memory for messages with PE 1");
    owned_left = -1;
    hear(done_of(PEER, 2, 1, 1));
}

static void test_messages_of_flow(void)
{
    const uint64_t *handled = &uccs_own_mine()->handled[CONTEXT][LANE].count, before = *handled;
    for (int i = 0; i < FLOW_MESSAGES; i++)
        CHECK(send_of(PEER, 0, 0));
    CHECK(!send_of(PEER, 0, 0) && send_of(PEER, UCCS_RING_USER, 0) && send_of(OTHER, 0, 0));
    hear(done_of(PEER, 0, 1, 0));
    CHECK(*handled == before + 1);
    CHECK(send_of(PEER, 0, 0) && !send_of(PEER, 0, 0));
    OWNED_FAILS(hear(done_of(PEER, 0, FLOW_MESSAGES + 1, 0)), "PE 1 says that it has handled 513 messages of 0 bytes");
    OWNED_FAILS(hear(done_of(PEER, 0, 1, 1)), "handled 1 messages of 1 bytes");
    CHECK(!send_of(PEER, 0, 0) && *handled == before + 1); /* neither gave credit */
    hear(done_of(PEER, 0, FLOW_MESSAGES, 0));
    CHECK(*handled == before + 1 + FLOW_MESSAGES);
    hear(done_of(PEER, UCCS_RING_USER, 1, 0));
    hear(done_of(OTHER, 0, 1, 0));
    for (int i = 0; i < FLOW_MESSAGES + 2; i++)
        CHECK(send_of(PEER, USER_REPLY, 0));
    for (int i = 0; i < FLOW_MESSAGES; i++)
        CHECK(send_of(PEER, UCCS_RING_REPLY, 0));
    CHECK(!send_of(PEER, UCCS_RING_REPLY, 0) && send_of(PEER, USER_REPLY, FLOW_BYTES));
    hear(done_of(PEER, UCCS_RING_REPLY, FLOW_MESSAGES, 0));
    hear(done_of(PEER, USER_REPLY, FLOW_MESSAGES + 3, FLOW_BYTES));
}

static void test_bytes_of_flow(void)
{
    CHECK(send_of(PEER, 0, FLOW_BYTES - 1) && !send_of(PEER, 0, 2) && send_of(PEER, 0, 1));
    CHECK(!send_of(PEER, 0, 1) && send_of(PEER, 0, 0));
    OWNED_FAILS(hear(done_of(PEER, 0, 3, FLOW_BYTES + 1)), "3 messages of 1048577 bytes, more than it has got");
    hear(done_of(PEER, 0, 1, 1));
    CHECK(send_of(PEER, 0, 1) && !send_of(PEER, 0, 1));
    hear(done_of(PEER, 0, 3, FLOW_BYTES));
    CHECK(send_of(PEER, 0, FLOW_BYTES + 1) && !send_of(PEER, 0, 0)); /* alone a longer one goes, too */
    hear(done_of(PEER, 0, 1, FLOW_BYTES + 1));
    CHECK(send_of(PEER, 0, 0) && !send_of(PEER, 0, FLOW_BYTES + 1));
    hear(done_of(PEER, 0, 1, 0));
}

static struct uccs_block *block_for(bool staged, size_t bytes)
{
    struct uccs_block *block = aligned_alloc(CACHE_LINE, sizeof *block + CACHE_LINE);
    *block = (struct uccs_block){.legs = 7};
    const struct uccs_message head = {.length = (uint32_t)bytes, .staged = staged};
    memcpy(block->payload, "staged", 6);
    CHECK(uccs_far_am_try(&lanes, PEER, CONTEXT, 0, &head, "inline", block));
    CHECK(last.header.am.block && last.header.am.staged == staged && !last.header.am.id && last.cookie == block);
    CHECK(block->legs == (staged ? 2 : 1) && (last.left != 0) == staged);
    CHECK((last.data == block->payload) == staged && (last.buffer != 0) == !staged);
    CHECK(memcmp(last.data, staged ? "staged" : "inline", bytes) == 0);
    free(last.buffer);
    return block;
}

static void hear_block(int from, uint64_t token, bool bad)
{
    hear((struct link_header){.from = (uint32_t)from, .am_done = {.block = token, .failed = bad, .context = CONTEXT}});
}

static void test_blocks(void)
{
    struct uccs_block *first = block_for(true, 6);
    const uint64_t token = last.header.am.block;
    struct uccs_block *second = block_for(false, 6), *third = block_for(true, 1);
    const uint64_t tokens[] = {token, last.header.am.block};
    OWNED_FAILS(hear_block(OTHER, token, true), "of 2");
    CHECK(first->legs == 2 && !first->failed && !first->done);
    hear_block(PEER, token, false); /* the peer first, then the transport */
    CHECK(first->legs == 1 && !first->done && !first->failed);
    release_leg(first);
    CHECK(first->done == 1 && first->legs == 0);
    OWNED_FAILS(hear_block(PEER, token, false), "of 1"); /* once */
    release_leg(third);                                  /* the transport first */
    CHECK(!third->done);
    hear_block(PEER, tokens[1], true);
    CHECK(third->done && third->failed && !second->done);
    hear_block(PEER, second->legs ? tokens[1] - 1 : 0, false); /* the one before it in the table */
    CHECK(second->done && !second->failed);
    hear(done_of(PEER, 0, 3, 13));
    free(first), free(second), free(third);
}

static void test_flows(void)
{
    struct flow *mine = flow_of(PEER, NEXT, 1);
    const struct partner *partner = partners[PEER];
    CHECK(mine == flow_of(PEER, NEXT, 1) && mine == &partner->contexts[NEXT]->flow[1]);
    CHECK(mine->sent == 0 && mine->messages == 0 && mine->bytes == 0 && mine->arrived == 0 && !mine->early);
    mine->sent = UINT32_MAX;
    CHECK(take_credit(mine, 1, 8) == UINT64_C(1) << 32 && take_credit(mine, 1, 8) == (UINT64_C(1) << 32) + 1);
    CHECK(give_credit(mine, 2, 16));
    mine->sent = 0;
    CHECK((uintptr_t)partner->contexts[NEXT] % CACHE_LINE == 0);
    CHECK(partner->contexts[CONTEXT] && partner->contexts[CONTEXT] != partner->contexts[NEXT]);
    CHECK(!partners[3] && !partner->contexts[NEXT + 1]);
    owned_left = 0;
    OWNED_FAILS((void)flow_of(3, CONTEXT, 0), "no memory for messages with PE 3");
    (void)flow_of(NPES - 1, CONTEXT, OWN_RINGS - 1);
}

static void test_debtor(void)
{
    struct {
        struct flows flows;
        struct flow behind;
    } owing = {.behind.messages = 1};
    struct partner partner = {.contexts[CONTEXT] = &owing.flows}, none = {0},
                   beyond = {.contexts[CONTEXT] = &owing.flows};
    struct partner *all[NPES + 1] = {0, &none, 0, &partner, 0, &beyond}, **before = partners;
    partners = 0;
    CHECK(uccs_far_am_debtor(CONTEXT) == -1);
    partners = all;
    CHECK(uccs_far_am_debtor(CONTEXT) == -1 && uccs_far_am_debtor(NEXT) == -1);
    for (int which = 0; which < OWN_RINGS; which++) {
        owing.flows.flow[which].messages = which ? 1 : 1u << 16;
        CHECK(uccs_far_am_debtor(CONTEXT) == 3 && uccs_far_am_debtor(NEXT) == -1);
        if (which == 1)
            all[3] = 0, all[NPES - 1] = &partner;
        CHECK(uccs_far_am_debtor(CONTEXT) == (which == 1 ? NPES - 1 : 3));
        all[3] = &partner, all[NPES - 1] = 0;
        owing.flows.flow[which].messages = 0;
    }
    owing.flows.flow[0].messages = 1;
    all[3] = 0;
    CHECK(uccs_far_am_debtor(CONTEXT) == -1); /* there is no PE behind the last */
    all[NPES] = 0;
    partners = before;
}

#endif
