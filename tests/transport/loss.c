/* Peers that die, leave or are not there: the transport says so, other connections go on, and what has left arrives. A process of
 * its own holds the PE that is lost. */
#include "transport/net.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOST = 1, STAGE = 0, COUNT = 1, LAST_WORDS = 300 };

static uint32_t stage(int which)
{
    return __atomic_load_n(&net.shared->word[which], __ATOMIC_ACQUIRE);
}

static void set_stage(int which, uint32_t value)
{
    __atomic_store_n(&net.shared->word[which], value, __ATOMIC_RELEASE);
}

/* PEs 0 and 2 are of this process, PE 1 is of a child that does what `life` says. */
static pid_t start(void (*life)(void))
{
    net_open(0, 0, 3, 1);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const char *why = net_open(LOST, 1, 3, 1);
        CHECK(!why, "%s", why);
        set_stage(STAGE, 1);
        while (!__atomic_load_n(&net.shared->bytes[0][0], __ATOMIC_ACQUIRE))
            net_idle(0);
        life();
        exit(0);
    }
    const char *why = net_open(0, 1, 3, 1);
    why = why ? why : net_open(2, 1, 3, 1);
    CHECK(!why, "%s", why);
    while (stage(STAGE) == 0)
        net_idle(0);
    return child;
}

static void serves(void)
{
    for (;;)
        net_idle(net_progress(net_worker(LOST, 0)));
}

static void answers_first(struct net_worker *worker, int pe, int number)
{
    if (worker->pe == LOST && net.pairs[worker->pe][0][pe][number].shorts < 5)
        net_send(worker, pe, number, 10);
}

static void answers_and_serves(void)
{
    net_worker(LOST, 0)->heard = answers_first;
    serves();
}

static void never_comes(void)
{
    for (;;)
        pause();
}

static void kill_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
}

/* The others go on. */
static void others_talk(void)
{
    for (int i = 0; i < 50; i++)
        net_send(net_worker(i % 2 * 2, 0), 2 - i % 2 * 2, 0, i % 5 ? 100 : 100000);
    const struct net_pair *there = &net.pairs[0][0][2][0], *back = &net.pairs[2][0][0][0];
    NET_UNTIL(there->got_shorts + there->got_longs + back->got_shorts + back->got_longs == 50);
}

static void is_told(struct net_worker *worker)
{
    NET_UNTIL(worker->broken[LOST] || worker->failed);
    CHECK(!worker->broken[0] && !worker->broken[2], "of the one that is lost, and of no other");
    others_talk();
}

static void killed_while_idle(void)
{
    const pid_t child = start(answers_and_serves);
    struct net_worker *worker = net_worker(0, 0);
    net_send(worker, LOST, 0, 10);
    NET_UNTIL(net.pairs[LOST][0][0][0].got_shorts);
    NET_UNTIL(!worker->under_way);
    net.may_fail = true;
    kill_child(child);
    is_told(worker);
    CHECK(worker->broken[LOST], "nobody sends, so `broken` tells");
}

static void killed_while_others_send(void)
{
    const pid_t child = start(never_comes);
    struct net_worker *worker = net_worker(0, 0);
    net.may_fail = true;
    for (int i = 0; i < 200; i++)
        net_send(worker, LOST, 0, i % 3 ? 30000 : 500000);
    for (int i = 0; i < 200; i++)
        net_pump();
    others_talk();
    kill_child(child);
    is_told(worker);
}

static void sends_and_is_killed(void)
{
    struct net_worker *worker = net_worker(LOST, 0);
    for (uint32_t i = 0;; i++) {
        net_send(worker, 0, 0, i % 7 ? net_below(worker, 3000) : 200000);
        net_progress(worker);
        set_stage(COUNT, i);
    }
}

static void killed_while_it_sends(void)
{
    const pid_t child = start(sends_and_is_killed);
    net_worker(0, 0)->late = 30;
    net.may_fail = true;
    NET_UNTIL(net.pairs[LOST][0][0][0].got_shorts > 100);
    kill_child(child);
    is_told(net_worker(0, 0));
}

static void says_and_leaves(void)
{
    struct net_worker *worker = net_worker(LOST, 0);
    for (int i = 0; i < LAST_WORDS; i++)
        net_send(worker, 0, 0, net_below(worker, TRANSPORT_SHORT));
    while (!net_of(worker)->drained(worker->at))
        net_idle(0);
    CHECK(!worker->under_way, "all has left");
}

/* What has left this process arrives, although the process ends. */
static void leaves_when_drained(void)
{
    const pid_t child = start(says_and_leaves);
    int status = 0;
    net.may_fail = true;
    NET_UNTIL(waitpid(child, &status, WNOHANG) == child);
    CHECK(status == 0, "it has left in order");
    NET_UNTIL(net.pairs[LOST][0][0][0].got_shorts == LAST_WORDS);
    others_talk();
}

static void leaves(void)
{
    net_close(LOST);
}

/* An address at which nobody is any more. */
static void connects_to_nobody(void)
{
    const pid_t child = start(leaves);
    waitpid(child, 0, 0);
    net.may_fail = true;
    for (int i = 0; i < 3; i++)
        net_send(net_worker(0, 0), LOST, 0, 100);
    is_told(net_worker(0, 0));
}

const struct net_case cases_loss[] = {{"killed_while_idle", killed_while_idle, "tells"},
                                      {"killed_while_others_send", killed_while_others_send, "tells"},
                                      {"killed_while_it_sends", killed_while_it_sends, "loses"},
                                      {"leaves_when_drained", leaves_when_drained, 0},
                                      {"connects_to_nobody", connects_to_nobody, "tells"},
                                      {0}};
