/* Random schedules by the seed: who sends what to whom, who makes progress, fetches late, drains or sleeps, all in any order. */
#include "transport/net.h"

#include <stdlib.h>

static size_t draw_bytes(struct net_worker *worker)
{
    switch (net_below(worker, 8)) {
    case 0: return TRANSPORT_SHORT - 2 + net_below(worker, 5);
    case 1: return net_below(worker, 500000);
    case 2: return net_below(worker, TRANSPORT_SHORT);
    default: return net_below(worker, 300);
    }
}

static struct net_worker *draw_own_worker(struct net_worker *by)
{
    return net_worker((int)net_below(by, (uint64_t)net.pes), (int)net_below(by, (uint64_t)net.workers));
}

static void step(struct net_worker *by)
{
    struct net_worker *worker = draw_own_worker(by), *to = draw_own_worker(by);
    switch (net_below(by, 10)) {
    case 0:
    case 1:
    case 2: net_send(worker, to->pe, to->number, draw_bytes(by)); break;
    case 3: net_fetch(worker); break;
    case 4: (void)net_of(worker)->drained(worker->at); break;
    case 5: (void)net_of(worker)->arm(worker->at); break;
    default: net_progress(worker); break;
    }
}

static void messages_by_seed(void)
{
    struct net_worker by = {.random = net.seed};
    net_start(2 + (int)net_below(&by, NET_PES - 2), 1 + (int)net_below(&by, 2));
    for (int i = 0; i < net.pes * net.workers; i++)
        net_worker(i / net.workers, i % net.workers)->late = net_below(&by, 2) ? 0 : (uint32_t)net_below(&by, 101);
    for (int part = 0; part < 4; part++) {
        for (int i = 0; i < 1500; i++)
            step(&by);
        net_settle();
    }
}

/* Lives that end at any moment. */
static void lives_by_seed(void)
{
    struct net_worker by = {.random = net.seed};
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
