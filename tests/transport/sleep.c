/* Threads that sleep: the descriptor becomes readable when there is something to do. Workers that threads drive at the same time. */
#include "transport/net.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

enum { SLEEP_SECONDS = 30 };

/* Sleeps until one of the workers has something to do. */
static void sleep_on(struct net_worker *const *workers, int count)
{
    struct pollfd files[4];
    for (int i = 0; i < count; i++) {
        if (!net_of(workers[i])->arm(workers[i]->at))
            return;
        files[i] = (struct pollfd){net_of(workers[i])->descriptor(workers[i]->at), POLLIN, 0};
    }
    CHECK(poll(files, (nfds_t)count, SLEEP_SECONDS * 1000) > 0, "nobody wakes, and there is something to do");
}

static void until_settled(struct net_worker *const *workers, int count)
{
    while (!net_settled()) {
        int happened = 0;
        for (int i = 0; i < count; i++)
            happened += net_progress(workers[i]);
        if (!happened && !net_settled())
            sleep_on(workers, count);
    }
}

static void wakes(void)
{
    net_start(2, 1);
    struct net_worker *const both[] = {net_worker(0, 0), net_worker(1, 0)};
    for (int round = 0; round < 400; round++) {
        struct net_worker *from = both[net_below(both[0], 2)];
        const int burst = net_below(from, 10) ? 1 : 40;
        for (int i = 0; i < burst; i++)
            net_send(from, !from->pe, 0, net_below(from, 12) ? net_below(from, 2000) : net_below(from, 400000));
        until_settled(both, 2);
    }
}

/* A thread that sleeps with messages that the kernel did not take. */
static void wakes_to_send(void)
{
    net_start(3, 1);
    struct net_worker *const all[] = {net_worker(0, 0), net_worker(1, 0), net_worker(2, 0)};
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 600; i++)
            net_send(all[0], 1 + i % 2, 0, 30000);
        until_settled(all, 3);
    }
}

/* One thread sleeps, and another one sends: the message is seen soon. */
static void *sleeps_and_reads(void *of)
{
    struct net_worker *worker = of;
    const struct net_pair *pair = &net.pairs[0][0][1][0];
    while (pair->got_shorts < 500) {
        struct net_worker *const one[] = {worker};
        if (!net_progress(worker))
            sleep_on(one, 1);
    }
    return 0;
}

static void wakes_another_thread(void)
{
    pthread_t thread;
    net_start(2, 1);
    struct net_worker *from = net_worker(0, 0);
    CHECK(pthread_create(&thread, 0, sleeps_and_reads, net_worker(1, 0)) == 0, "a thread");
    for (int i = 0; i < 500; i++) {
        net_send(from, 1, 0, net_below(from, 3000));
        while (!net_of(from)->drained(from->at))
            sched_yield();
    }
    while (from->under_way)
        net_progress(from);
    pthread_join(thread, 0);
}

/* Four workers of two PEs, each driven by a thread. */
enum { EACH = 300 };
static uint32_t at_end;

static bool has_all(const struct net_worker *worker)
{
    uint64_t got = 0;
    for (int i = 0; i < 2; i++) {
        const struct net_pair *pair = &net.pairs[!worker->pe][i][worker->pe][worker->number];
        got += pair->got_shorts + pair->got_longs;
    }
    return got == EACH && !worker->under_way && !worker->kept;
}

static void *drives(void *of)
{
    struct net_worker *worker = of;
    for (int i = 0; i < EACH; i++) {
        net_send(worker, !worker->pe, (worker->number + i) % 2,
                 net_below(worker, 12) ? net_below(worker, 3000) : 90000);
        net_progress(worker);
    }
    while (!has_all(worker))
        net_idle(net_progress(worker));
    __atomic_add_fetch(&at_end, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&at_end, __ATOMIC_RELAXED) < 4)
        net_idle(net_progress(worker));
    return 0;
}

static void a_thread_each(void)
{
    pthread_t threads[4];
    net_start(2, 2);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], 0, drives, net_worker(i / 2, i % 2)) == 0, "a thread");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
}

const struct net_case cases_sleep[] = {{"wakes", wakes, 0},
                                       {"wakes_to_send", wakes_to_send, 0},
                                       {"wakes_another_thread", wakes_another_thread, 0},
                                       {"a_thread_each", a_thread_each, 0},
                                       {0}};
