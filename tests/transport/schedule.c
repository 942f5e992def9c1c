/* Random schedules by the seed: who sends what to whom, who makes progress, fetches late, drains or sleeps, all in any order. */
#include "transport/net.h"

#include <stdlib.h>

static size_t draw_bytes(struct net_lane *lane)
{
    switch (net_below(lane, 8)) {
    case 0: return TRANSPORT_SHORT - 2 + net_below(lane, 5);
    case 1: return net_below(lane, 500000);
    case 2: return net_below(lane, TRANSPORT_SHORT);
    default: return net_below(lane, 300);
    }
}

static struct net_lane *draw_lane(struct net_lane *by)
{
    return net_lane((int)net_below(by, (uint64_t)net.pes), (int)net_below(by, (uint64_t)net.lanes));
}

static void step(struct net_lane *by)
{
    struct net_lane *lane = draw_lane(by), *to = draw_lane(by);
    switch (net_below(by, 10)) {
    case 0:
    case 1:
    case 2: net_send(lane, to->pe, to->number, draw_bytes(by)); break;
    case 3: net_fetch(lane); break;
    case 4: (void)net_of(lane)->drained(lane->at); break;
    case 5: (void)net_of(lane)->arm(lane->at); break;
    default: net_progress(lane); break;
    }
}

static void messages_by_seed(void)
{
    struct net_lane by = {.random = net.seed};
    net_start(2 + (int)net_below(&by, NET_PES - 2), 1 + (int)net_below(&by, 2));
    for (int i = 0; i < net.pes * net.lanes; i++)
        net_lane(i / net.lanes, i % net.lanes)->late = net_below(&by, 2) ? 0 : (uint32_t)net_below(&by, 101);
    for (int part = 0; part < 4; part++) {
        for (int i = 0; i < 1500; i++)
            step(&by);
        net_settle();
    }
}

/* Lives that end at any moment. */
static void lives_by_seed(void)
{
    struct net_lane by = {.random = net.seed};
    net_start(3, 1 + (int)net_below(&by, 2));
    for (int life = 0; life < 5; life++) {
        net.may_fail = true;
        for (uint64_t i = net_below(&by, 400); i > 0; i--)
            step(&by);
        for (int i = 0; i < net.pes; i++)
            net_close(i);
        for (int i = 0; i < net.pes; i++)
            CHECK(!net_reopen(i), "it opens again");
        net.may_fail = false;
        for (uint64_t i = net_below(&by, 100); i > 0; i--)
            step(&by);
        net_settle();
    }
}

const struct net_case cases_schedule[] = {{"messages_by_seed", messages_by_seed, 0},
                                          {"lives_by_seed", lives_by_seed, "closes"},
                                          {0}};
