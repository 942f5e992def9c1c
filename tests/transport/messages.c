/* Messages: in order, whole, of all sizes; long data fetched now or later; memory that is free again; a receiver that does not come. */
#include "transport/net.h"

#include <stdlib.h>

static void in_order(void)
{
    net_start(2, 1);
    struct net_worker *from = net_worker(0, 0);
    for (int i = 0; i < 3000; i++) {
        static const size_t most[] = {1, 16, 64, 1024, 8192, TRANSPORT_SHORT + 1};
        net_send(from, 1, 0, net_below(from, most[net_below(from, 6)]));
        if (net_below(from, 20) == 0)
            net_pump();
    }
    net_settle();
    CHECK(net.pairs[0][0][1][0].got_shorts == 3000, "all arrive");
}

static void all_sizes(void)
{
    static const size_t sizes[] =
        {0,     1,     2,     7,     8,      9,      63,     64,     65,      511,           512,           513,
         1000,  1023,  1024,  1025,  4095,   4096,   4097,   8191,   8192,    8193,          16384,         32767,
         32768, 32769, 40000, 65536, 131071, 131072, 131073, 200000, 1 << 20, (1 << 20) + 1, (4 << 20) + 13};
    net_start(2, 1);
    for (int way = 0; way < 2; way++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            net_send(net_worker(way, 0), !way, 0, sizes[i]);
            if (i % 3 == 0)
                net_settle(); /* some alone, some behind others */
        }
    for (size_t bytes = 0; bytes < 300; bytes++)
        net_send(net_worker(0, 0), 1, 0, bytes);
    net_settle();
}

/* The receiver fetches nothing until all have come, and what comes behind long messages passes them. */
static void fetched_later(void)
{
    enum { LONGS = 24 };
    net_start(2, 1);
    struct net_worker *from = net_worker(0, 0), *to = net_worker(1, 0);
    const struct net_pair *pair = &net.pairs[0][0][1][0];
    to->late = 100;
    for (int i = 0; i < LONGS; i++) {
        net_send(from, 1, 0, TRANSPORT_SHORT + 1 + net_below(from, 200000));
        net_send(from, 1, 0, net_below(from, 1000));
    }
    while (pair->got_shorts < LONGS || pair->got_longs < LONGS)
        for (int i = 0; i < 2; i++) /* without fetching */
            net_of(net_worker(i, 0))->progress(net_worker(i, 0)->at);
    CHECK(to->kept, "long data waits at its sender");
    while (to->kept) {
        net_fetch(to);
        net_idle(net_pump());
    }
    net_settle();
}

/* Long data whose place becomes known while it is coming. */
static void fetched_while_it_comes(void)
{
    net_start(3, 1);
    net_worker(2, 0)->late = 60;
    for (int i = 0; i < 60; i++) {
        struct net_worker *from = net_worker(i % 2, 0);
        net_send(from, 2, 0, net_below(from, 3) ? 1 + net_below(from, 3 << 20) : net_below(from, 100));
        net_pump();
    }
    net_settle();
}

/* More than any buffer of the kernel or the network takes, to a PE that makes no progress. */
static void nobody_receives(void)
{
    enum { MESSAGES = 3000, BYTES = 16 << 10 };
    net_start(2, 1);
    struct net_worker *from = net_worker(0, 0);
    net_send(from, 1, 0, 8);
    net_settle();
    int waiting = 0;
    for (int i = 0; i < MESSAGES; i++) {
        waiting += net_send(from, 1, 0, net_below(from, BYTES)) == TRANSPORT_PENDING;
        if (i % 64 == 0)
            net_progress(from);
    }
    for (int i = 0; i < 100; i++)
        if (net_of(from)->drained(from->at)) /* then nothing waits for anybody */
            CHECK(!from->under_way, "%u messages have not ended", from->under_way);
    net_settle();
    NET_UNTIL(net_of(from)->drained(from->at));
}

/* Waves of messages from several peers to one that looks at them late: many of them are there in part when it does. */
static void waves_of_many(void)
{
    net_start(4, 1);
    struct net_worker *to = net_worker(3, 0);
    for (int wave = 0; wave < 12; wave++) {
        for (int i = 0; i < 90; i++)
            net_send(net_worker(i % 3, 0), 3, 0, TRANSPORT_SHORT - net_below(to, 3000));
        for (int i = 0; i < 300; i++)
            net_progress(net_worker((int)net_below(to, 4), 0));
        net_settle();
    }
}

static void both_ways_at_once(void)
{
    net_start(2, 2);
    for (int i = 0; i < 400; i++)
        for (int way = 0; way < 2; way++) {
            struct net_worker *from = net_worker(way, (int)net_below(net_worker(way, 0), 2));
            net_send(from, !way, (int)net_below(from, 2), net_below(from, 10) ? net_below(from, 9000) : 300000);
        }
    net_settle();
    for (int i = 0; i < 4; i++)
        NET_UNTIL(net_of(net_worker(i / 2, i % 2))->drained(net_worker(i / 2, i % 2)->at));
}

/* A worker that has nothing to send has drained; messages that have left are at the end of it. */
static void drains(void)
{
    net_start(2, 1);
    struct net_worker *from = net_worker(0, 0);
    NET_UNTIL(net_of(from)->drained(from->at));
    for (int i = 0; i < 50; i++) {
        net_send(from, 1, 0, net_below(from, TRANSPORT_SHORT));
        NET_UNTIL(net_of(from)->drained(from->at));
        CHECK(!from->under_way, "what has left has ended");
    }
    net_settle();
}

const struct net_case cases_messages[] = {{"in_order", in_order, 0},
                                          {"all_sizes", all_sizes, 0},
                                          {"fetched_later", fetched_later, 0},
                                          {"fetched_while_it_comes", fetched_while_it_comes, 0},
                                          {"nobody_receives", nobody_receives, 0},
                                          {"waves_of_many", waves_of_many, 0},
                                          {"both_ways_at_once", both_ways_at_once, 0},
                                          {"drains", drains, 0},
                                          {0}};
