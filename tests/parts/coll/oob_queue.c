/* Out-of-band messages in their queues: those that come out of turn, whom a receive finds, what is due in which order, and what is
 * refused. */
#include "oob_stub.h"

/* --- Messages that have come */

/* Each source's messages are filed by their numbers. */
static void test_numbers(void)
{
    comes_as(2, 1, TAG, 0, "2b", false);
    comes_as(3, 2, TAG, 0, "3c", true);
    comes_as(2, 3, TAG, 0, "2d", true);
    CHECK(is(taken(ANY, TAG, 0), ""));
    comes_as(3, 0, TAG, 0, "3a", false);
    comes_as(2, 0, TAG, 0, "2a", true);
    CHECK(is(taken(ANY, TAG, 0), "3a") && is(taken(ANY, TAG, 0), "2a") && is(taken(ANY, TAG, 0), "2b"));
    CHECK(is(taken(ANY, TAG, 0), ""));
    comes_as(3, 1, TAG, 0, "3b", false);
    comes_as(2, 2, TAG, 0, "2c", false);
    CHECK(is(taken(2, TAG, 0), "2c") && is(taken(2, TAG, 0), "2d") && is(taken(2, TAG, 0), ""));
    CHECK(is(taken(3, TAG, 0), "3b") && is(taken(3, TAG, 0), "3c") && is(taken(3, TAG, 0), ""));
    CHECK(!early && !arrivals && owned_count == 2 && blocks_out == 0); /* the two tables of numbers */
    number_of[2] = 4, number_of[3] = 3;
}

/* Group, tag and source must be those that are wanted. */
static void test_matches(void)
{
    const struct head have = {.group = 2, .tag = 3, .source = 1};
    for (int i = 0; i < 5; i++) {
        const struct head wanted = {.group = 2 + (i == 1), .tag = 3 + (i == 2), .source = i == 4 ? ANY : 1 + (i == 3)};
        CHECK(matches(&wanted, &have) == (i == 0 || i == 4));
    }
    comes(0, TAG, "one"), comes(2, TAG + 1, "two"), comes(0, TAG, "three");
    comes_as(3, number_of[3]++, TAG, 9, "four", false);
    CHECK(is(taken(0, TAG + 1, 0), "") && is(taken(2, TAG, 0), "") && is(taken(3, TAG, 0), ""));
    CHECK(is(taken(2, TAG + 1, 0), "two")); /* from the middle */
    CHECK(is(taken(3, TAG, 9), "four"));    /* the last one */
    comes(2, TAG, "five");
    CHECK(is(taken(ANY, TAG, 0), "one") && is(taken(ANY, TAG, 0), "three") && is(taken(ANY, TAG, 0), "five"));
    comes(2, TAG, ""), comes(2, TAG, "");
    CHECK(arrivals && arrivals->bytes == 0 && arrivals->next->bytes == 0);
    (void)taken(2, TAG, 0), (void)taken(2, TAG, 0);
    CHECK(!arrivals && last_arrival == &arrivals && blocks_out == 0 && owned_count == 2);
    owned_left = 0;
    OWNED_FAILS(comes_as(2, 99, TAG, 0, "x", false), "no memory for an out-of-band message of PE 2");
}

/* --- Sending */

static int64_t words[] = {1, 2, 3};
static int16_t halves[] = {7, 8};

static void test_content(void)
{
    const struct uccs_rte_iovec iov[] = {{words, &uccs_rte_int8, 2},
                                         {0, &uccs_rte_int4, 0},
                                         {halves, &uccs_rte_int2, 2},
                                         {words + 2, &uccs_rte_int8, 1}};
    for (uint64_t number = 0; number < 3; number++) {
        full = refuses = expects = (int)number;
        serves = 0;
        CHECK(uccs_rte_send(iov, 4, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS);
        CHECK(serves == 2 * (int)number && last_index == 2 && last_bytes == sizeof(struct head) + 28);
        const struct head *head = (const struct head *)last_block->payload;
        CHECK(head->group == 0 && head->tag == TAG && head->source == ME && head->number == number);
        CHECK(memcmp(head + 1, words, 16) == 0 && memcmp((char *)(head + 1) + 16, halves, 4) == 0);
        CHECK(memcmp((char *)(head + 1) + 20, words + 2, 8) == 0);
        test_done(last_block);
    }
    CHECK(uccs_rte_send(0, 0, ec(3), -1, &other) == UCCS_RTE_SUCCESS && last_bytes == sizeof(struct head));
    const struct head *head = (const struct head *)last_block->payload;
    CHECK(head->group == 9 && head->tag == -1 && head->number == 0 && last_index == 3);
    test_done(last_block);
    full = 2, expects = 1;
    CHECK(uccs_rte_send(iov, 4, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_ERROR_OUT_OF_RESOURCE && sent[2] == 3);
    full = expects = 0;
    const struct uccs_rte_iovec long_one = {words, &uccs_rte_int8, UINT32_MAX};
    CHECK(bytes_of(&long_one, 1) == (size_t)UINT32_MAX * 8);
}

static void refuse_send(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, uccs_group_t group)
{
    CHECK(uccs_rte_send(iov, count, dest, TAG, group) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_send_nbcb(iov, count, dest, TAG, group, note, 0) == UCCS_RTE_ERROR_BAD_INPUT);
}

static void refuse_receive(uccs_rte_ec_t source, uccs_group_t group)
{
    const struct uccs_rte_iovec iov = {words, &uccs_rte_int8, 1};
    CHECK(uccs_rte_recv(&iov, 1, source, TAG, group) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_recv_nbcb(source, TAG, 0, group, note, 0) == UCCS_RTE_ERROR_BAD_INPUT);
}

static void refuse_all(uccs_rte_ec_t peer, uccs_group_t group)
{
    const struct uccs_rte_iovec iov = {words, &uccs_rte_int8, 1};
    refuse_send(&iov, 1, peer, group);
    refuse_receive(peer, group);
}

static void test_refused(void)
{
    struct uccs_rte_iovec iov[] = {{words, &uccs_rte_int8, 1}, {words, &uccs_rte_int8, 1}};
    refuse_send(0, 1, ec(2), UCCS_GROUP_WORLD);
    refuse_send(iov, 1, UCCS_RTE_ANYSOURCE, UCCS_GROUP_WORLD);
    iov[1].type = 0;
    refuse_send(iov, 2, ec(2), UCCS_GROUP_WORLD);
    CHECK(uccs_rte_recv(iov, 2, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_recv(0, 1, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_ERROR_BAD_INPUT);
    iov[1] = (struct uccs_rte_iovec){0, &uccs_rte_int8, 1};
    refuse_send(iov, 2, ec(2), UCCS_GROUP_WORLD);
    refuse_all(UCCS_RTE_EC_NULL, UCCS_GROUP_WORLD);
    refuse_all(ec(NPES), UCCS_GROUP_WORLD);
    refuse_all(ec(2), UCCS_GROUP_NULL);
    refuse_receive(UCCS_RTE_ANYSOURCE, UCCS_GROUP_NULL);
    uccs_handlers_running = 1;
    refuse_all(ec(2), UCCS_GROUP_WORLD);
    uccs_handlers_running = uccs_users = 0;
    refuse_all(ec(2), UCCS_GROUP_WORLD);
    uccs_users = 1;
    CHECK(uccs_rte_send_nbcb(iov, 1, ec(2), TAG, UCCS_GROUP_WORLD, 0, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_recv_nbcb(ec(2), TAG, 0, UCCS_GROUP_WORLD, 0, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_recv_nbcb(ec(2), TAG, 2, UCCS_GROUP_WORLD, note, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    owned_left = 0;
    CHECK(uccs_rte_send_nbcb(iov, 1, ec(2), TAG, UCCS_GROUP_WORLD, note, 0) == UCCS_RTE_ERROR_OUT_OF_RESOURCE);
    owned_left = 0;
    CHECK(uccs_rte_recv_nbcb(ec(2), TAG, 0, UCCS_GROUP_WORLD, note, 0) == UCCS_RTE_ERROR_OUT_OF_RESOURCE);
    full = 1, expects = 0;
    CHECK(uccs_rte_send_nbcb(iov, 1, ec(2), TAG, UCCS_GROUP_WORLD, note, 0) == UCCS_RTE_ERROR_OUT_OF_RESOURCE);
    CHECK(!receives && !arrivals && owned_count == 2 && blocks_out == 0);
}

static void test_unpack(void)
{
    const char source[] = "..abcdefgh";
    char to[5] = "----";
    uint32_t offset = 2;
    const struct uccs_rte_iovec two = {to, &uccs_rte_int2, 1}, none = {0, &uccs_rte_int8, 0},
                                bad = {0, &uccs_rte_int8, 1};
    CHECK(uccs_rte_unpack(&two, source, &offset) == UCCS_RTE_SUCCESS && offset == 4 && is(to, "ab--"));
    CHECK(uccs_rte_unpack(&none, source, &offset) == UCCS_RTE_SUCCESS && offset == 4);
    CHECK(uccs_rte_unpack(&two, source, &offset) == UCCS_RTE_SUCCESS && offset == 6 && is(to, "cd--"));
    CHECK(uccs_rte_unpack(0, source, &offset) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_unpack(&two, 0, &offset) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_unpack(&two, source, 0) == UCCS_RTE_ERROR_BAD_INPUT);
    CHECK(uccs_rte_unpack(&bad, source, &offset) == UCCS_RTE_ERROR_BAD_INPUT && offset == 6 && is(to, "cd--"));
}

/* --- Receiving */

static void come_abcdef(void)
{
    comes(2, TAG, "abcdef");
    while_served = 0;
}

static void test_receive(void)
{
    char first[3] = "", rest[5] = "";
    const struct uccs_rte_iovec iov[] = {{first, &uccs_rte_int2, 1}, {rest, &uccs_rte_int4, 1}};
    serves = 0;
    while_served = come_abcdef;
    CHECK(uccs_rte_recv(iov, 2, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS && serves == 1);
    CHECK(is(first, "ab") && is(rest, "cdef"));
    comes(2, TAG, "uvwxyz"), comes(2, TAG, "12345"), comes(2, TAG, "1234567"), comes(0, TAG, "ABCDEF");
    CHECK(uccs_rte_recv(iov, 2, UCCS_RTE_ANYSOURCE, TAG, UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS && is(rest, "wxyz"));
    CHECK(uccs_rte_recv(iov, 2, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_ERROR && is(rest, "wxyz"));
    CHECK(uccs_rte_recv(iov, 2, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_ERROR && is(first, "uv"));
    CHECK(uccs_rte_recv(iov, 2, ec(0), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS && is(rest, "CDEF") && serves == 1);
    CHECK(owned_count == 2 && blocks_out == 0);
    CHECK(posts(3, TAG, 0, "p") == UCCS_RTE_SUCCESS); /* callbacks run meanwhile, and then it looks again at once */
    comes(3, TAG, "due");
    called[0] = 0;
    while_served = come_abcdef;
    CHECK(uccs_rte_recv(iov, 2, ec(2), TAG, UCCS_GROUP_WORLD) == UCCS_RTE_SUCCESS && is(called, "3 6 due p;") &&
          serves == 2);
}

/* The first message for which there is a receive is due, and the first receive gets it. */
static void test_due(void)
{
    CHECK(calls("", 0));
    comes(0, 1, "a"), comes(2, 2, "b"), comes(3, 1, "c"), comes(0, 2, "d");
    CHECK(calls("", 0));
    CHECK(posts(2, 2, 0, "x") == 0 && posts(ANY, 1, 0, "y") == 0 && posts(0, 1, 0, "z") == 0);
    CHECK(calls("0 1 a y;2 2 b x;", 2)); /* the receive of all came before that of PE 0 */
    CHECK(posts(3, 1, 0, "v") == 0);
    CHECK(calls("3 1 c v;", 1));
    comes(0, 1, "e");
    CHECK(calls("0 1 e z;", 1) && !receives && last_receive == &receives);
    CHECK(posts(ANY, 2, UCCS_RTE_RECV_PERSISTENT, "always") == 0);
    comes(2, 2, "f"), comes(3, 3, "g");
    CHECK(calls("0 2 d always;2 2 f always;", 2) && receives->persistent && !receives->next);
    comes_as(2, number_of[2]++, 2, 9, "other", true);
    CHECK(calls("", 0)); /* of another group */
    CHECK(uccs_rte_recv_nbcb(ec(2), 2, 0, &other, note, "w") == 0);
    CHECK(calls("2 2 other w;", 1));
    CHECK(uccs_rte_cancel(UCCS_RTE_ANYSOURCE, 2) == UCCS_RTE_SUCCESS && is(taken(3, 3, 0), "g") && !receives);
    CHECK(owned_count == 2 && blocks_out == 0);
}

/* A send's callback comes in its turn, and is no message. */
static void test_sent(void)
{
    const struct uccs_rte_iovec iov = {words, &uccs_rte_int8, 1};
    comes(3, 4, "before");
    CHECK(uccs_rte_send_nbcb(&iov, 1, ec(2), 4, UCCS_GROUP_WORLD, note, "sent") == UCCS_RTE_SUCCESS);
    test_done(last_block);
    CHECK(is(taken(2, 4, 0), "") && is(taken(3, 4, 0), "before"));
    comes(2, 4, "after");
    CHECK(posts(2, 4, 0, "r") == 0);
    CHECK(calls("2 4  sent;2 4 after r;", 2));
    CHECK(owned_count == 2 && blocks_out == 0);
}

static void test_cancel(void)
{
    CHECK(uccs_rte_cancel(ec(2), 5) == UCCS_RTE_ERROR_NOT_FOUND);
    CHECK(posts(2, 5, 0, "a") == 0 && posts(2, 6, 1, "b") == 0 && posts(2, 5, 1, "c") == 0 && posts(3, 5, 0, "d") == 0);
    CHECK(posts(ANY, 5, 0, "e") == 0);
    CHECK(uccs_rte_cancel(ec(2), 4) == UCCS_RTE_ERROR_NOT_FOUND &&
          uccs_rte_cancel(ec(0), 5) == UCCS_RTE_ERROR_NOT_FOUND);
    CHECK(owned_count == 7);
    CHECK(uccs_rte_cancel(ec(2), 5) == UCCS_RTE_SUCCESS && owned_count == 5 && !owned_held);
    CHECK(uccs_rte_cancel(UCCS_RTE_ANYSOURCE, 5) == UCCS_RTE_SUCCESS); /* the last one */
    CHECK(posts(0, 5, 0, "f") == 0);
    comes(0, 5, "0"), comes(2, 6, "2"), comes(3, 5, "3");
    CHECK(calls("0 5 0 f;2 6 2 b;3 5 3 d;", 3));
    CHECK(uccs_rte_cancel(ec(2), 6) == UCCS_RTE_SUCCESS && uccs_rte_cancel(ec(2), 6) == UCCS_RTE_ERROR_NOT_FOUND);
    CHECK(owned_count == 2 && !receives && last_receive == &receives);
}

static void test_close(void)
{
    comes(0, 1, "a"), comes(2, 1, "b"), comes(2, 1, "c");
    CHECK(posts(2, 7, 0, "a") == 0 && posts(2, 7, 1, "b") == 0);
    uccs_oob_close();
    CHECK(owned_count == 0 && blocks_out == 0 && !arrivals && !receives && !expected && !sent);
    CHECK(last_arrival == &arrivals && last_receive == &receives);
    for (int left = 0; left < 2; left++) {
        owned_left = left;
        CHECK(!uccs_oob_open());
        uccs_oob_close();
    }
    CHECK(owned_count == 0);
}

int main(void)
{
    uccs_core.me = ME;
    uccs_core.npes = uccs_core.pes = NPES;
    uccs_users = 1;
    uccs_ranks_open();
    CHECK(uccs_oob_open() && owned_bytes(expected) == NPES * sizeof *expected &&
          owned_bytes(sent) == NPES * sizeof *sent);
    for (int pe = 0; pe < NPES; pe++)
        CHECK(expected[pe] == 0 && sent[pe] == 0);
    test_numbers();
    test_matches();
    test_content();
    test_refused();
    test_unpack();
    test_receive();
    test_due();
    test_sent();
    test_cancel();
    test_close();
    return 0;
}
