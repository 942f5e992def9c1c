/* Workers and connections: addresses, connection on first use, by both ends at once, to itself, from within an event; lives. */
#include "transport/net.h"

#include <stdlib.h>
#include <string.h>

static void addresses(void)
{
    net_start(2, 2);
    for (int i = 0; i < 4; i++) {
        const struct net_worker *worker = net_worker(i / 2, i % 2);
        const size_t whole = net.shared->bytes[i / 2][i % 2];
        char room[NET_ADDRESS + 1];
        memset(room, 0x55, sizeof room);
        for (size_t bytes = 0; bytes < whole; bytes += whole / 5 + 1) {
            size_t length = bytes;
            CHECK(net_of(worker)->address(worker->at, room, &length) == -1 && length == whole, "%zu bytes are too few",
                  bytes);
            CHECK(room[bytes] == 0x55, "what lies behind is left alone");
        }
        size_t length = whole;
        CHECK(net_of(worker)->address(worker->at, room, &length) == 0 && length == whole && room[whole] == 0x55,
              "it fits");
        for (int k = 0; k < i; k++)
            CHECK(whole != net.shared->bytes[k / 2][k % 2] ||
                      memcmp(net.shared->address[i / 2][i % 2], net.shared->address[k / 2][k % 2], whole) != 0,
                  "each worker has its own");
    }
}

static void send_to_all(size_t most)
{
    const int all = net.pes * net.workers;
    for (int i = 0; i < all * all; i++) {
        struct net_worker *from = net_worker(i / all / net.workers, i / all % net.workers);
        net_send(from, i % all / net.workers, i % net.workers, net_below(from, most));
    }
}

/* Every worker calls every other one, and itself, before any has made progress. */
static void all_call_all(void)
{
    net_start(NET_PES, 2);
    for (int round = 0; round < 3; round++)
        send_to_all(round == 1 ? 50000 : 2000);
    net_settle();
}

/* Two PEs call each other again and again in new lives, with all that may come between. */
static void both_call(void)
{
    net_start(2, 1);
    for (int life = 0; life < 12; life++) {
        if (life) {
            for (int pe = 0; pe < 2; pe++)
                net_close(pe);
            for (int pe = 0; pe < 2; pe++)
                CHECK(!net_reopen(pe), "it opens again");
        }
        const int first = (int)net_below(net_worker(0, 0), 2);
        net_send(net_worker(first, 0), !first, 0, 100);
        for (uint64_t i = net_below(net_worker(0, 0), 6); i > 0; i--)
            net_progress(net_worker((int)net_below(net_worker(0, 0), 2), 0));
        net_send(net_worker(!first, 0), first, 0, 40000);
        net_settle();
        for (int i = 0; i < 20; i++)
            net_send(net_worker(i % 2, 0), !(i % 2), 0, 64);
        net_settle();
    }
}

static void to_itself(void)
{
    net_start(1, 2);
    for (int i = 0; i < 200; i++) {
        struct net_worker *from = net_worker(0, i % 2);
        net_send(from, 0, (int)net_below(from, 2), net_below(from, 8) ? net_below(from, 3000) : 100000);
        if (i % 10 == 0)
            net_pump();
    }
    net_settle();
}

/* An event connects, and sends what answers. */
static void answers(struct net_worker *worker, int pe, int number)
{
    const uint64_t left = net.pairs[worker->pe][worker->number][pe][number].shorts;
    if (left < 20 && worker->pe != 0)
        net_send(worker, pe, number, net_below(worker, 5000));
    if (worker->pe != 0 && left == 3)
        net_send(worker, (worker->pe + 1) % net.pes, number, 10);
}

static void from_within_an_event(void)
{
    net_start(4, 2);
    for (int i = 0; i < 8; i++)
        net_worker(i / 2, i % 2)->heard = answers;
    for (int round = 0; round < 10; round++)
        for (int pe = 1; pe < 4; pe++)
            net_send(net_worker(0, round % 2), pe, round % 2, net_below(net_worker(0, 0), 2) ? 70000 : 12);
    net_settle();
    CHECK(net.pairs[1][0][0][0].shorts >= 5, "it has answered");
}

/* A connection that is asked for twice serves both. */
static void connects_twice(void)
{
    net_start(2, 1);
    struct net_worker *from = net_worker(0, 0);
    net_send(from, 1, 0, 5);
    from->to[1][0] = 0;
    net_settle(); /* on the first; a new message might else overtake it */
    net_send(from, 1, 0, 5);
    net_send(net_worker(1, 0), 0, 0, 5);
    net_settle();
}

/* Closes with all kinds of things under way, and works in its next life. */
static void closes_under_way(void)
{
    net_start(4, 2);
    net.may_fail = true;
    for (int life = 0; life < 4; life++) {
        net_worker(1, 0)->late = 100;
        send_to_all(100);
        for (int i = 0; i < 50 * life; i++)
            net_pump();
        for (int i = 0; i < 100; i++)
            net_send(net_worker(i % 4, i % 2), 1, 0, 20000 + 1000 * (size_t)i);
        for (int i = 0; i < 4 * life; i++)
            net_pump();
        for (int pe = 0; pe < 4; pe++)
            net_close((pe + life) % 4);
        for (int pe = 0; pe < 4; pe++)
            CHECK(!net_reopen(pe), "it opens again");
    }
    net.may_fail = false;
    send_to_all(60000);
    net_settle();
}

const struct net_case cases_connect[] = {{"addresses", addresses, 0},
                                         {"all_call_all", all_call_all, 0},
                                         {"both_call", both_call, 0},
                                         {"to_itself", to_itself, 0},
                                         {"from_within_an_event", from_within_an_event, 0},
                                         {"connects_twice", connects_twice, 0},
                                         {"closes_under_way", closes_under_way, "closes"},
                                         {0}};
