/* The receiving half of near.c: which messages a round takes, in which order, and what senders are told of them. */
#ifndef TESTS_TRUST_NEAR_RECEIVING_H
#define TESTS_TRUST_NEAR_RECEIVING_H

#include "near_stub.h"

/* Puts a message into a ring of PE 1, as a handler of PE 0 that replies does. */
static void puts_into(uint32_t which, int id, const char *text, size_t length, bool acknowledged)
{
    struct uccs_sending s;
    uccs_sending_start(&s, 1, which, id);
    s.payload = text;
    s.head.length = (uint32_t)length;
    s.stream = 0;
    s.request = acknowledged ? &ending : 0;
    CHECK(uccs_am_post(&s, &world, 0) == UCCS_OK);
}

static struct uccs_am_found looks(int what)
{
    become(1);
    memset(ran, 0, sizeof ran);
    uint32_t *inside = uccs_am_enter();
    const struct uccs_am_found found = uccs_am_look(what);
    uccs_am_leave(inside);
    become(0);
    return found;
}

/* Replies come first; requests and the program's class only where they may. */
static void test_classes(void)
{
    static const struct {
        int what;
        const char *runs;
    } rows[] = {{0, "r"}, {UCCS_AM_USERS, "rR"}, {UCCS_AM_REQUESTS, "rq"}, {UCCS_AM_REQUESTS | UCCS_AM_USERS, "rRqQ"}};
    for (size_t i = 0; i < 4; i++) {
        puts_into(UCCS_RING_USER, ID, "Q", 1, false), puts_into(0, ID + 1, "q", 1, false);
        puts_into(USER_REPLY, ID, "R", 1, false), puts_into(UCCS_RING_REPLY, ID + 1, "r", 1, false);
        const struct uccs_am_found found = looks(rows[i].what);
        CHECK(strcmp(ran, rows[i].runs) == 0 && found.users == (int)strlen(rows[i].runs) && found.own == 0);
        (void)looks(UCCS_AM_REQUESTS | UCCS_AM_USERS);
        CHECK(strlen(ran) + strlen(rows[i].runs) == 4 && uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
    }
    clear();
}

/* A visit takes so many messages of a ring; then the others have their turn. */
static void test_batch(void)
{
    for (int i = 0; i < BATCH + 1; i++)
        puts_into(UCCS_RING_REPLY, ID + 1, "r", 1, false), puts_into(0, ID + 1, "q", 1, false);
    CHECK(looks(UCCS_AM_REQUESTS).users == 2 * BATCH && ran[BATCH - 1] == 'r' && ran[BATCH] == 'q');
    CHECK(looks(UCCS_AM_REQUESTS).users == 2 && looks(UCCS_AM_REQUESTS).users == 0);
    clear();
}

static void test_wrong_class(void)
{
    for (volatile int user = 0; user < 2; user++) {
        puts_into(user ? UCCS_RING_USER : 0, ID + user, "x", 1, false);
        OWNED_FAILS((void)looks(UCCS_AM_REQUESTS | UCCS_AM_USERS), "PE 0 sent a message to handler ");
        CHECK(strstr(owned_words, user ? "handler 6 of context 3" : "handler 5 of context 3"));
        CHECK(uccs_handlers_running == 0);
        become(0);
    }
    uccs_own_of(0)->handled[3][uccs_thread()].count += 2; /* the job would have ended */
    struct poller *mine = &pollers[uccs_thread() % POLLERS];
    mine->inside[phase & 1] = 0;
    clear();
}

/* Messages that are in the rings are one sender's and one thread's, or not: all senders learn how many. */
static void test_tallies(void)
{
    struct uccs_am_tally tally = {0};
    const uint64_t *near_one = &uccs_own_of(1)->handled[4][2].count, *own_one = &uccs_own_of(0)->handled[4][2].count;
    const uint64_t *other = &uccs_own_of(0)->handled[4][3].count;
    uccs_am_count_handled(4, &tally, &(struct uccs_message){.source = 1, .lane = 2});
    uccs_am_count_handled(4, &tally, &(struct uccs_message){.source = 1, .lane = 2});
    CHECK(*near_one == 0 && tally.count == 2);
    uccs_am_count_handled(4, &tally, &(struct uccs_message){.source = 0, .lane = 2});
    CHECK(*near_one == 2 && tally.count == 1 && *own_one == 0);
    uccs_am_count_handled(4, &tally, &(struct uccs_message){.source = 0, .lane = 3});
    CHECK(*near_one == 2 && *own_one == 1 && *other == 0);
    uccs_am_tell(4, &tally);
    uccs_am_tell(4, &tally);
    CHECK(*near_one == 2 && *own_one == 1 && *other == 1 && tally.count == 0);
}

static void test_insist_of(void)
{
    const struct uccs_message message = {.source = 1};
    const struct uccs_am_token token = {.message = &message};
    const uint32_t right = 1, wrong = 0;
    uccs_am_insist(&token, 8, 8, &right);
    OWNED_FAILS(uccs_am_insist(&token, 7, 8, &right),
                "PE 1 sent a message of the library's own that is cut off: 7 of 8 bytes");
    OWNED_FAILS(uccs_am_insist(&token, 8, 8, &wrong), "PE 1 sent a message of the library's own in the name of PE 0");
}

/* --- Replies of the program's class while the network's alone is served */

static void test_kept_replies(void)
{
    char letters[OWN_RING_CELLS];
    for (int i = 0; i < OWN_RING_CELLS / 2 - 1; i++) {
        letters[i] = (char)('a' + i % 26);
        puts_into(USER_REPLY, ID, &letters[i], 1, false);
    }
    CHECK(looks(UCCS_AM_REQUESTS).users == 0 && uccs_park_empty(3, USER_REPLY)); /* not yet half full */
    memset(letters + OWN_RING_CELLS / 2 - 1, 'A', 300);
    puts_into(USER_REPLY, ID, "A", 1, true);
    CHECK(looks(UCCS_AM_REQUESTS).users == 0 && !uccs_park_empty(3, USER_REPLY) && !blocks_sent[0]->done);
    letters[OWN_RING_CELLS / 2] = 'B';
    puts_into(USER_REPLY, ID, "B", 1, false);
    while (!uccs_park_empty(3, USER_REPLY) &&
           uccs_own_ring(1, 3, USER_REPLY)->tail - uccs_own_ring(1, 3, USER_REPLY)->head >= OWN_RING_CELLS / 2)
        (void)looks(UCCS_AM_REQUESTS);
    CHECK(uccs_own_of(1)->parked[3] == uccs_parked[3][USER_REPLY] && uccs_parked[3][USER_REPLY] <= 16);
    letters[OWN_RING_CELLS / 2 + 1] = 0;
    CHECK(uccs_am_settled(&world, UCCS_SCOPE_PROCESS) == false && runs(letters));
    CHECK(uccs_am_settled(&world, UCCS_SCOPE_PROCESS) && uccs_own_of(1)->parked[3] == 0);
    clear();
}

/* A staged one that is kept gives its block back at once, and is whole when its handler runs. */
static void test_kept_staged(void)
{
    static char payload[3000], letters[OWN_RING_CELLS];
    handles(9, UCCS_AM_USER, see);
    for (size_t bytes = UCCS_SHORT_MAX; bytes < sizeof payload; bytes += bytes < 400 ? 32 : 1301) {
        memset(payload, (int)bytes, bytes);
        puts_into(USER_REPLY, 9, payload, bytes, true);
        for (int i = 0; i < OWN_RING_CELLS / 2; i++)
            puts_into(USER_REPLY, ID, "x", 1, false);
        CHECK(looks(UCCS_AM_REQUESTS).users == 0 && blocks_sent[0]->done);
        const size_t room = (sizeof(struct uccs_block) + bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
        CHECK(bytes == UCCS_SHORT_MAX || owned_bytes(queues[3][USER_REPLY].first->copy) == room);
        CHECK(bytes == UCCS_SHORT_MAX ? !queues[3][USER_REPLY].first->copy
                                      : queues[3][USER_REPLY].first->copy->kept == UCCS_KEPT_COPY);
        memset(blocks_sent[0]->payload, 'y', blocks_sent[0]->capacity);
        (void)test_collect();
        memset(letters, 'x', OWN_RING_CELLS / 2);
        letters[OWN_RING_CELLS / 2] = 0;
        CHECK(runs(letters) && seen.length == bytes && all_are(seen_bytes, bytes, (char)bytes) && seen_reply);
        CHECK(seen.block == UCCS_NO_BLOCK && uccs_am_settled(&world, UCCS_SCOPE_PROCESS));
        clear();
    }
    owned_left = 0;
    puts_into(USER_REPLY, 9, payload, 1000, false);
    become(1);
    uint64_t ticket;
    struct uccs_message message = *(const struct uccs_message *)ring_take(uccs_own_ring(1, 3, USER_REPLY), &ticket);
    ring_release(uccs_own_ring(1, 3, USER_REPLY), ticket);
    OWNED_FAILS(copy_out(&message), "no memory to keep a reply of PE 0");
    become(0);
    blocks_sent[0]->done = 1;
    uccs_own_of(0)->handled[3][uccs_thread()].count++;
    clear();
}

/* --- Packets of other nodes */

static struct uccs_far_packet packets[40];
static enum uccs_am_outcome packet_outcome;

static void on_packet(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    note(token, payload, length, argument);
    CHECK((token->block != 0) == (token->message->staged != 0));
    token->outcome = (uint8_t)packet_outcome;
}

static void comes_far(uint32_t context, uint32_t which, int id, char letter, bool staged)
{
    struct uccs_far_packet **at = &far_packets[context][which], *packet = packets;
    for (; *at; at = &(*at)->next)
        packet = *at + 1;
    if (packet == packets)
        packet = &packets[which * 10];
    *at = packet;
    packet->next = 0;
    packet->message.source = NEAR;
    packet->message.id = (uint16_t)id;
    packet->message.length = 1;
    packet->message.staged = staged;
    packet->message.counter = 41;
    packet->message.weight = 2;
    (staged ? packet->block.payload : packet->message.payload)[0] = letter;
}

static void test_packets_of(int what, const char *letters)
{
    for (uint32_t which = 0; which < OWN_RINGS; which++)
        comes_far(3, which, which & UCCS_RING_USER ? 11 : 12, "qrQR"[which], false);
    far_handled = far_held = far_told = 0;
    test_far_waiting = 0;
    CHECK(looks(what).users == 0); /* nothing waits, it is said */
    test_far_waiting = 4;
    counted = 0;
    CHECK(looks(what).users == (int)strlen(letters) && strcmp(ran, letters) == 0);
    CHECK(far_handled == (int)strlen(letters) && far_told == far_handled && far_held == 0 && counted == 41);
    while (looks(UCCS_AM_REQUESTS | UCCS_AM_USERS).users)
        ;
    test_far_waiting = 0;
}

static void test_far_packets(void)
{
    handles(11, UCCS_AM_USER, on_packet), handles(12, UCCS_AM_NETWORK_PROTOCOL, on_packet);
    packet_outcome = UCCS_AM_HANDLED;
    test_packets_of(0, "r"), test_packets_of(UCCS_AM_USERS, "rR"), test_packets_of(UCCS_AM_REQUESTS, "rq");
    test_packets_of(UCCS_AM_REQUESTS | UCCS_AM_USERS, "rRqQ");
    test_far_waiting = 1;
    for (int i = 0; i < 3; i++) {
        static const enum uccs_am_outcome outcomes[] = {UCCS_AM_HANDLED, UCCS_AM_HELD, UCCS_AM_PENDING};
        packet_outcome = outcomes[i];
        far_handled = far_held = far_told = 0;
        counted = 0;
        comes_far(3, 0, 12, 's', true);
        CHECK(looks(UCCS_AM_REQUESTS).users == 1 && strcmp(ran, "s") == 0);
        CHECK(far_handled == (i < 2) && far_told == (i < 2) && far_held == (i == 1) && counted == (i < 2 ? 41 : 0));
    }
    packet_outcome = UCCS_AM_HANDLED;
    test_far_waiting = 0;
}

/* --- The library's own context */

static int inner_ran;

static void run_inner(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)payload, (void)length, (void)argument;
    CHECK(token->context->attr.id == OWN_INNER);
    inner_ran++;
}

static void test_own_context(void)
{
    static struct uccs_context inner = {.attr = {.id = OWN_INNER},
                                        .handlers = {[UCCS_INNER_LETTER] = {.handler = run_inner}}};
    const struct uccs_op nowait = {.nowait = 1};
    become(1);
    CHECK(uccs_am_look_inner() == 0); /* nobody has published it */
    uccs_am_publish(&inner);
    become(0);
    CHECK(uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0) && looks(0).own == 0 && inner_ran == 0);
    struct uccs_am_found found = looks(UCCS_AM_REQUESTS);
    CHECK(found.own == 1 && found.users == 0 && inner_ran == 1);
    CHECK(uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0) &&
          sends(ID + 1, UCCS_AM_NETWORK_PROTOCOL, "n", 1, &nowait) == UCCS_OK);
    comes_far(OWN_INNER, 0, UCCS_INNER_LETTER, 'x', false);
    become(1);
    CHECK(uccs_am_look_inner() == 1 && inner_ran == 2);
    test_far_waiting = 1;
    CHECK(uccs_am_look_inner() == 1 && inner_ran == 3 && uccs_am_look_inner() == 0);
    become(0);
    comes_far(OWN_INNER, 0, UCCS_INNER_LETTER, 'x', false);
    found = looks(UCCS_AM_REQUESTS);
    CHECK(found.own == 1 && found.users == 1 && inner_ran == 4 && strcmp(ran, "n") == 0);
    test_far_waiting = 0;
    become(1);
    CHECK(uccs_am_try(1, UCCS_INNER_LETTER, "x", 1, 0) && uccs_progress() == 0 &&
          inner_ran == 5); /* no handler of the program */
    uccs_am_retire(&inner);
    become(0);
    clear();
}

static void test_receiving(void)
{
    test_classes();
    test_batch();
    test_wrong_class();
    test_tallies();
    test_insist_of();
    test_kept_replies();
    test_kept_staged();
    test_far_packets();
    test_own_context();
}

#endif
