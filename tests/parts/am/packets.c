/* Messages to and from other nodes, as far.c keeps them: credits and numbers of flows, blocks that a peer and the transport
 * let go, packets that come in any order, what senders are told, and the end of a life. The links are the test's. */
#include "packets_sending.h"

/* --- Arriving */

struct coming {
    int from, context, ring, id, lane;
    uint64_t number, token;
    bool staged, in_room;
    size_t bytes;
};

static struct uccs_far_packet *comes(struct coming c)
{
    static char payload[4096];
    struct link_arrival arrival = {.bytes = c.bytes,
                                   .header = {.kind = LINK_AM,
                                              .from = (uint32_t)c.from,
                                              .am = {.number = c.number,
                                                     .block = c.token,
                                                     .counter = 5,
                                                     .weight = (int64_t)c.number << 40,
                                                     .context = (uint8_t)c.context,
                                                     .ring = (uint8_t)c.ring,
                                                     .staged = c.staged,
                                                     .lane = (uint16_t)c.lane,
                                                     .id = (uint16_t)c.id}}};
    const struct link_handler *handler = handlers[LINK_AM];
    const int rung = rings;
    memset(payload, (char)c.number, sizeof payload);
    uccs_own_mine()->asleep = 1;
    if (c.in_room)
        memcpy(handler->room(&arrival), payload, c.bytes);
    else
        CHECK(handler->land(&arrival, payload));
    struct uccs_far_packet *packet = arrival.cookie;
    owned_good(packet);
    handler->landed(&arrival);
    CHECK(rings == rung + 1 && !owned_held);
    return packet;
}

static bool is_full_of(const char *bytes, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != (char)number)
            return false;
    return true;
}

/* Packets of every size, in a cell and staged, hold what has come. */
static void test_packets(void)
{
    static const size_t sizes[] = {0, 1, 31, 32, 33, 63, 64, 65, UCCS_SHORT_MAX, 1000, 4096};
    uint64_t number = 0;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const size_t bytes = sizes[i / 2];
        const bool staged = bytes > UCCS_SHORT_MAX || i % 2;
        struct uccs_far_packet *packet =
            comes((struct coming){PEER, CONTEXT, 0, 3, LANE, ++number, 9, staged, i % 4 < 2, bytes});
        CHECK(owned_bytes(packet) >= sizeof *packet + (staged ? bytes : 0) && owned_bytes(packet) % CACHE_LINE == 0);
        CHECK(packet->message.source == PEER && packet->message.length == bytes && packet->message.id == 3);
        CHECK(packet->message.staged == staged && packet->message.lane == LANE &&
              packet->message.block == UCCS_NO_BLOCK);
        CHECK(packet->message.counter == 5 && packet->message.weight == (int64_t)number << 40);
        CHECK(packet->number == number && packet->token == 9 && packet->context == CONTEXT && packet->which == 0);
        CHECK(packet->block.kept == UCCS_KEPT_PACKET && !packet->block.failed && !packet->block.done);
        CHECK(is_full_of(staged ? packet->block.payload : packet->message.payload, bytes, number));
        CHECK(uccs_far_am_waiting == 1 && uccs_far_am_take_any(CONTEXT, 0) == packet && uccs_far_am_waiting == 0);
        CHECK(uccs_far_am_block(packet) == &packet->block);
        packet->token = 0;
        CHECK(uccs_far_am_block(packet) == (staged ? &packet->block : 0));
        packet->token = 1;
        packet->message.staged = 0;
        CHECK(uccs_far_am_block(packet) == &packet->block);
        free(packet);
    }
    CHECK(!uccs_far_am_take_any(CONTEXT, 0));
}

static struct uccs_far_packet *come(int from, int ring, uint64_t number)
{
    return comes((struct coming){.from = from, .context = CONTEXT, .ring = ring, .number = number, .id = 2});
}

static void takes(int ring, struct uccs_far_packet *packet)
{
    CHECK(uccs_far_am_take(&context, (uint32_t)ring) == packet);
    free(packet);
}

/* Each flow's packets are taken in the order of their numbers, whatever order they come in. */
static void test_order(void)
{
    struct uccs_far_packet *p[8];
    context.handlers[2].handler = (uccs_am_handler)(void (*)(void))test_order;
    CHECK(!uccs_far_am_take(&context, 1));
    p[3] = come(PEER, 1, 3), p[2] = come(PEER, 1, 2), p[5] = come(PEER, 1, 5);
    CHECK(uccs_far_am_waiting == 0 && !uccs_far_am_take(&context, 1) && !uccs_far_am_take_any(CONTEXT, 1));
    p[0] = come(OTHER, 1, 1);
    CHECK(uccs_far_am_waiting == 1);
    p[1] = come(PEER, 1, 1);
    CHECK(uccs_far_am_waiting == 4 && !uccs_far_am_take_any(CONTEXT, 2));
    takes(1, p[0]), takes(1, p[1]), takes(1, p[2]), takes(1, p[3]);
    CHECK(uccs_far_am_waiting == 0 && !uccs_far_am_take(&context, 1));
    p[4] = come(PEER, 1, 4), p[6] = come(PEER, 1, 6);
    takes(1, p[4]), takes(1, p[5]), takes(1, p[6]);
    p[7] = come(PEER, 1, 7);
    takes(1, p[7]);
    p[2] = come(PEER, 3, 1); /* another ring's numbers */
    takes(3, p[2]);
    p[2] = come(PEER, 1, 9);
    static const uint64_t old[] = {7, 1, 9};
    for (int i = 0; i < 3; i++) {
        struct link_arrival arrival = {
            .header = {.from = PEER, .am = {.number = old[i], .context = CONTEXT, .ring = 1}}};
        CHECK(handlers[LINK_AM]->land(&arrival, 0));
        OWNED_FAILS(handlers[LINK_AM]->landed(&arrival), "PE 1 sent message");
        CHECK(strstr(owned_words, "of context 3 twice"));
        free(arrival.cookie);
    }
    p[1] = come(PEER, 1, 8);
    takes(1, p[1]), takes(1, p[2]);
}

/* A packet without a handler stays, and after a while there is a line. */
static void test_unready(void)
{
    struct uccs_far_packet *first =
        comes((struct coming){.from = PEER, .context = CONTEXT, .ring = 2, .number = 1, .id = UCCS_AM_PLACE + 6});
    struct uccs_far_packet *second = come(PEER, 2, 2);
    late_looked = 0;
    CHECK(!uccs_far_am_take(&context, 2) && late_looked == &queues[CONTEXT][2].late && late_of[0] == 0 && !owned_held);
    is_late = true;
    CHECK(!uccs_far_am_take(&context, 2) && late_of[0] == PEER && late_of[1] == 6 && late_of[2] == CONTEXT);
    CHECK(queues[CONTEXT][2].late.told && uccs_far_am_waiting == 2);
    context.handlers[UCCS_AM_PLACE + 6].handler = context.handlers[2].handler;
    late_looked = 0;
    CHECK(uccs_far_am_take(&context, 2) == first && !late_looked && !queues[CONTEXT][2].late.told);
    CHECK(uccs_far_am_take(&context, 2) == second && !late_looked && uccs_far_am_waiting == 0);
    CHECK(!uccs_far_am_take(&context, 2) && !late_looked);
    free(first), free(second);
}

/* --- Telling the sender */

static bool tells(int to, uint64_t token, uint32_t count, uint64_t bytes, uint16_t of_lane, bool bad)
{
    const struct link_header *header = &last.header;
    CHECK((char *)issued_on == &service && issued_to == to && header->kind == LINK_AM_DONE && !last.counts &&
          !last.bytes);
    CHECK(header->am_done.block == token && header->am_done.count == count && header->am_done.bytes == bytes);
    CHECK(header->am_done.context == CONTEXT && header->am_done.lane == of_lane && header->am_done.failed == bad);
    return true;
}

static void handle(struct uccs_far_tally *tally, int from, uint16_t of_lane, uint32_t bytes, uint64_t token, bool bad)
{
    struct uccs_far_packet *packet = aligned_alloc(CACHE_LINE, sizeof *packet);
    *packet = (struct uccs_far_packet){.token = token, .block.failed = bad};
    const struct uccs_message message = {.source = (uint32_t)from, .lane = of_lane, .length = bytes};
    const size_t before = owned_count;
    uccs_far_am_handled(tally, &message, packet);
    CHECK(owned_count == before - 1);
}

static void test_tally(void)
{
    struct uccs_far_tally tally = {.context = CONTEXT, .which = 3};
    issued = 0;
    uccs_far_am_tell(&tally); /* nothing to tell */
    handle(&tally, PEER, 1, 10, 0, false), handle(&tally, PEER, 1, 20, 0, false);
    CHECK(issued == 0 && tally.count == 2 && tally.bytes == 30);
    handle(&tally, PEER, 2, 1, 0, false); /* another lane */
    CHECK(issued == 1 && tells(PEER, 0, 2, 30, 1, false) && last.header.am_done.ring == 3 && tally.count == 1);
    handle(&tally, OTHER, 2, 5, 0, false); /* another sender */
    CHECK(issued == 2 && tells(PEER, 0, 1, 1, 2, false) && tally.count == 1 && tally.bytes == 5);
    handle(&tally, OTHER, 2, 6, 0x700000001, true);
    CHECK(issued == 3 && tells(OTHER, 0x700000001, 2, 11, 2, true) && tally.count == 0 && tally.bytes == 0);
    handle(&tally, PEER, 4, UINT32_MAX, 3, false), handle(&tally, PEER, 4, 2, 0, true);
    CHECK(issued == 4 && tells(PEER, 3, 1, UINT32_MAX, 4, false));
    uccs_far_am_tell(&tally);
    CHECK(issued == 5 && tells(PEER, 0, 1, 2, 4, false) && tally.count == 0 && tally.bytes == 0);
    uccs_far_am_tell(&tally);
    CHECK(issued == 5);
    uccs_far_am_handled(&tally, &(struct uccs_message){.source = PEER, .lane = 4, .length = 7},
                        0); /* the packet is held */
    CHECK(issued == 5 && tally.count == 1 && tally.bytes == 7);
}

static struct uccs_far_packet *held(uint64_t token, uccs_counter counter)
{
    struct uccs_far_packet *packet = aligned_alloc(CACHE_LINE, sizeof *packet);
    *packet =
        (struct uccs_far_packet){.token = token,
                                 .context = CONTEXT,
                                 .which = 1,
                                 .message =
                                     {.source = OTHER, .lane = 6, .length = 100, .counter = counter, .weight = 4}};
    return packet;
}

static void test_held(void)
{
    struct uccs_far_packet *packet = held(8, 0);
    packet->block.failed = 1;
    issued = 0;
    uccs_far_am_done(&packet->block);
    CHECK(issued == 1 && tells(OTHER, 8, 0, 0, 0, true));
    packet = held(0, 0);
    uccs_far_am_done(&packet->block);
    CHECK(issued == 1);
    counted = 0;
    packet = held(0, 0);
    uccs_far_am_end(&packet->block);
    CHECK(issued == 2 && tells(OTHER, 0, 1, 100, 6, false) && last.header.am_done.ring == 1 && !counted);
    packet = held(9, 33);
    packet->block.failed = 1;
    uccs_far_am_end(&packet->block);
    CHECK(issued == 3 && tells(OTHER, 9, 1, 100, 6, true) && counted == 33 && counted_weight == 4);
}

/* What nobody has handled goes, and a next life begins with number 1. */
static void test_close(void)
{
    int flows = 0;
    (void)come(PEER, 0, 40), (void)come(OTHER, 2, 1), (void)come(OTHER, 2, 3), (void)come(OTHER, 2, 4);
    (void)comes((struct coming){.from = NPES - 1, .context = OWN_CONTEXTS - 1, .ring = 3, .number = 1});
    queues[OWN_CONTEXTS - 1][3].late.told = true;
    for (int pe = 0; pe < NPES; pe++)
        for (int of = 0; partners[pe] && of < OWN_CONTEXTS; of++)
            flows += partners[pe]->contexts[of] != 0;
    CHECK(uccs_far_am_waiting == 2);
    (void)block_for(true, 1);
    struct uccs_block *block = last.cookie;
    uccs_far_am_close();
    free(block);
    CHECK(destroyed == flows * OWN_RINGS && !partners && uccs_far_am_waiting == 0);
    CHECK(!blocks.entries && !blocks.room && !queues[OWN_CONTEXTS - 1][3].late.told);
    CHECK(!queues[CONTEXT][2].first && !queues[OWN_CONTEXTS - 1][3].first);
    CHECK(owned_count == 0 && owned_held == 0);
    CHECK(!uccs_far_am_take(&context, 2) && !uccs_far_am_take_any(OWN_CONTEXTS - 1, 3) &&
          uccs_far_am_debtor(CONTEXT) == -1);
    CHECK(send_of(PEER, 0, 0) && last.header.am.number == 1);
    takes(2, come(OTHER, 2, 1));
    uccs_far_am_close();
    uccs_far_am_close();
    CHECK(owned_count == 0);
}

int main(void)
{
    uccs_core.npes = NPES;
    uccs_core.me = ME;
    uccs_core.pes = 1;
    uccs_core.own = mmap(0, NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    uccs_far_am_open();
    CHECK(handlers[LINK_AM]->counts && !handlers[LINK_AM]->loose && handlers[LINK_AM_DONE]->loose);
    CHECK(!handlers[LINK_AM_DONE]->counts && !handlers[LINK_AM_DONE]->room);
    test_content();
    test_messages_of_flow();
    test_bytes_of_flow();
    test_blocks();
    test_flows();
    test_debtor();
    test_packets();
    test_order();
    test_unready();
    test_tally();
    test_held();
    test_close();
    return 0;
}
