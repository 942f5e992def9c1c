/* The networks for tests themselves: what their plans set, and what they refuse. */
#include "transport/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens a module under a plan. Returns what open says. */
static const char *opens(const char *wrapper, const char *plan)
{
    net_plan(wrapper, plan, false);
    return net.at[0] ? net_reopen(0) : net_open(0, 1, 1, 1);
}

static void refuses(const char *wrapper, const char *plan)
{
    const char *why = opens(wrapper, plan);
    CHECK(why && strstr(why, "LATERAL_TRANSPORTS"), "%s is refused, and the reason names the variable: %s", plan,
          why ? why : "nothing");
}

static void takes(const char *wrapper, const char *plan)
{
    const char *why = opens(wrapper, plan);
    CHECK(!why, "%s=%s: %s", wrapper, plan, why);
    net_send(net_worker(0, 0), 0, 0, 100);
    net_settle();
    net_close(0);
}

static void plans_of(const char *wrapper, const char *more)
{
    takes(wrapper, "");
    takes(wrapper, "seed=3,hold=20,steps=5");
    takes(wrapper, ",seed=18446744073709551615,,");
    takes(wrapper, more);
    refuses(wrapper, "seed");
    refuses(wrapper, "seed=");
    refuses(wrapper, "hold=x");
    refuses(wrapper, "hold=5x");
    refuses(wrapper, "unknown=1");
}

static void fault_plans(void)
{
    plans_of("fault", "hold=100,steps=0,pe=0,at=1,fail=none");
    refuses("fault", "fail=nothing");
}

static void sim_plans(void)
{
    plans_of("sim", "order=1,shares=1,words=4,most=2,bound=1");
}

static void nothing_behind(void)
{
    net_open(0, 1, 1, 1);
    net_close(0);
    setenv("LATERAL_TRANSPORTS", "", 1);
    net.at[1] = 0;
    const char *why = net_open(1, 1, 2, 1); /* its own copy */
    CHECK(why && strstr(why, "LATERAL_TRANSPORTS"), "%s", why ? why : "it opens without a network behind it");
}

/* --- The calls that the fault network lets fail, each by what the caller is told; the case's name says which */

static const char *fail_named(void)
{
    static char plan[64];
    const char *what = net.name + strlen("fails_");
    snprintf(plan, sizeof plan, "hold=30,pe=0,at=1,fail=%s", what);
    net_plan("fault", plan, false);
    return what;
}

static void fails_to_open(void)
{
    CHECK(fail_named() && net_open(0, 1, 1, 1), "the slot fails");
}

static void fails_later(void)
{
    const char *what = fail_named();
    const size_t bytes = strcmp(what, "receive") == 0 ? 3 << 20 : strcmp(what, "finish") == 0 ? 2000 : 10;
    net_start(2, 1);
    net.may_fail = true;
    struct net_worker *worker = net_worker(0, 0);
    net_send(net_worker(1, 0), 0, 0, bytes); /* it receives, too */
    for (int i = 0; i < 50 && !worker->failed; i++)
        net_send(worker, 1, 0, bytes < 2000 ? bytes : 2000);
    NET_UNTIL(worker->failed);
    if (strcmp(what, "break") == 0)
        CHECK(worker->broken[1] == 1, "of the peer, once");
    if (strcmp(what, "connect") == 0)
        CHECK(!worker->to[1][0], "there is no connection");
    CHECK(!net_worker(1, 0)->failed, "only at the PE that is named");
}

/* --- The simulated network's limits */

static void few_shares(void)
{
    static char memory[4096];
    net_plan("sim", "shares=2", false);
    net.onesided = TRANSPORT_ONESIDED | TRANSPORT_ALONE;
    net_start(1, 1);
    void *one = net.at[0]->share(memory, 100), *two = net.at[0]->share(memory, 200);
    CHECK(one && two && !net.at[0]->share(memory, 300), "two pieces, and no third");
    net.at[0]->withdraw(one);
    net.at[0]->withdraw(two);
}

static void one_width(void)
{
    net_plan("sim", "words=8", false);
    net_start(1, 1);
    struct net_worker *worker = net_worker(0, 0);
    void *to = net_to(worker, 0, 0);
    CHECK(net.at[0]->atomics(to, 8) == TRANSPORT_ATOMICS_ALL && !net.at[0]->atomics(to, 4), "those of 8 bytes alone");
    CHECK(!(net.at[0]->able(to) & TRANSPORT_ORDERS), "no order");
}

/* A key is good on connections to the first worker of its process alone. */
static void bound_keys(void)
{
    static char memory[64];
    char packed[TRANSPORT_KEY];
    size_t bytes = sizeof packed;
    net_plan("sim", "bound=1", false);
    net.onesided = TRANSPORT_ONESIDED | TRANSPORT_ALONE;
    net_start(2, 2);
    void *shared = net.at[1]->share(memory, sizeof memory);
    CHECK(shared && net.at[1]->pack(shared, packed, &bytes) == 0, "memory is shared");
    for (int number = 0; number < 2; number++) {
        struct net_worker *worker = net_worker(0, number);
        CHECK(net.at[0]->unpack(net_to(worker, 1, 0), packed, bytes), "to the first worker");
        CHECK(!net.at[0]->unpack(net_to(worker, 1, 1), packed, bytes), "to the second one");
    }
}

const struct net_case cases_switches[] = {{"fault_plans", fault_plans, "fault"},
                                          {"sim_plans", sim_plans, "sim"},
                                          {"nothing_behind_fault", nothing_behind, "fault"},
                                          {"nothing_behind_sim", nothing_behind, "sim"},
                                          {"fails_open", fails_to_open, "fault"},
                                          {"fails_address", fails_to_open, "fault"},
                                          {"fails_connect", fails_later, "fault"},
                                          {"fails_send", fails_later, "fault"},
                                          {"fails_receive", fails_later, "fault"},
                                          {"fails_finish", fails_later, "fault"},
                                          {"fails_break", fails_later, "fault"},
                                          {"few_shares", few_shares, "sim"},
                                          {"one_width", one_width, "sim"},
                                          {"bound_keys", bound_keys, "sim"},
                                          {0}};
