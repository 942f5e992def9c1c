/* The active-message experiments of UCCS, over uccs.h alone. PE 0 sends; T threads of PE 1 spin in uccs_progress.
 *
 *   injection.T      1050 messages, then an acknowledgement: messages a second (the median of many runs)
 *   sustained.T      many messages without a pause
 *   coarse.T         the same with a mutex round every call of both sides
 *   drain.T          1000 messages that have arrived already; the sender sleeps, so T threads have its core too. Each thread
 *                    counts on a line of its own, since a common count would cost more than a message
 *   fairness.T       callbacks of each thread in a run of 1050: deviation between the threads over the mean
 *   least.T, most.T  callbacks of the thread with the fewest and of the thread with the most, mean over the runs
 *   between.T        deviation of one thread's callbacks between the runs over their mean
 *
 * 8-byte payloads, USER class. All kinds take turns, because the machine changes over time. */
#include "bench.h"
#include "uccs_share.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { COUNT = 1, DONE = 2, BURST = 1050, RESTING = 1000, MOST = 8, KINDS = 4, ROUNDS = 15, BURSTS = 20 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static atomic_long handled, goal, acknowledged;
static atomic_int going; /* 1: the threads spin in progress; 2: they spin outside it; 0: they end */
static _Thread_local long *mine;
static long each[MOST][8]; /* by thread, one line each */
static long ready;         /* symmetric, at PE 0; counts runs in which PE 1's main thread has left progress */
static bool coarse;
static atomic_bool draining; /* threads count and take the time on their own */
static struct {
    _Alignas(64) _Atomic double at;
} handled_last[MOST]; /* the time when a thread last found messages */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void count(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)payload, (void)length, (void)argument;
    if (mine)
        ++*mine;
    if (atomic_load_explicit(&draining, memory_order_relaxed))
        return;
    if (atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed) + 1 != atomic_load(&goal))
        return;
    uccs_am_reply(token, DONE, UCCS_AM_USER, 0, 0);
}

static void done(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    atomic_fetch_add(&acknowledged, 1);
}

/* Returns the number of handlers that ran. */
static int progress(void)
{
    if (coarse)
        pthread_mutex_lock(&mutex);
    int ran = uccs_progress();
    if (coarse)
        pthread_mutex_unlock(&mutex);
    return ran;
}

static void *spin(void *argument)
{
    const long id = (long)argument;
    mine = each[id];
    for (int state; (state = atomic_load_explicit(&going, memory_order_relaxed)) != 0;)
        if (state == 1 && progress() > 0 && atomic_load_explicit(&draining, memory_order_relaxed))
            atomic_store_explicit(&handled_last[id].at, bench_now(), memory_order_release);
    return 0;
}

static void send(void)
{
    uint64_t payload = 0;
    if (coarse)
        pthread_mutex_lock(&mutex);
    uccs_am_short(context, peer, COUNT, UCCS_AM_USER, &payload, sizeof payload, 0);
    if (coarse)
        pthread_mutex_unlock(&mutex);
}

/* Returns the nanoseconds from the first message to the acknowledgement. Runs at PE 0. */
static double send_burst(long messages)
{
    long before = atomic_load(&acknowledged);
    double start = bench_now();
    for (long i = 0; i < messages; i++)
        send();
    while (atomic_load(&acknowledged) == before)
        progress();
    return bench_now() - start;
}

/* Runs at PE 1. Only the T threads are in progress; main sleeps. */
static void receive(long messages)
{
    shmem_long_atomic_inc(&ready, 0);
    while (atomic_load(&handled) < messages)
        usleep(100);
}

static double one_run(long messages)
{
    double took = 0;
    static long runs;
    memset(each, 0, sizeof each);
    atomic_store(&handled, 0);
    atomic_store(&goal, messages);
    uccs_barrier(UCCS_GROUP_WORLD);
    runs++;
    if (bench.me == 1)
        receive(messages);
    while (bench.me == 0 && shmem_long_atomic_fetch(&ready, 0) < runs)
        bench_relax();
    if (bench.me == 0)
        took = send_burst(messages);
    uccs_barrier(UCCS_GROUP_WORLD);
    return took;
}

/* Returns the number of messages that the threads have handled, and stores the time of the last one. */
static long drained(double *last)
{
    long sum = 0;
    *last = 0;
    for (int i = 0; i < MOST; i++) {
        const double at = atomic_load_explicit(&handled_last[i].at, memory_order_acquire);
        *last = at > *last ? at : *last;
        sum += *(volatile long *)each[i];
    }
    return sum;
}

/* Returns the nanoseconds that the threads take for messages that have arrived already. The result counts at PE 1. A thread
 * notes its time after it has counted, so main looks once more when it has seen all counts. */
static double drain_run(void)
{
    double start, last;
    memset(each, 0, sizeof each);
    atomic_store(&draining, true);
    atomic_store(&going, 2);
    shmem_barrier_all(); /* a barrier does not handle users' messages */
    for (int i = 0; i < RESTING && bench.me == 0; i++)
        send();
    shmem_barrier_all();
    usleep(1000 * (bench.me == 0)); /* PE 0 leaves its core */
    start = bench_now();
    atomic_store(&going, 1);
    while (bench.me == 1 && drained(&last) < RESTING)
        usleep(50);
    usleep(50);
    (void)drained(&last);
    atomic_store(&draining, false);
    uccs_barrier(UCCS_GROUP_WORLD);
    return last - start;
}

/* The results of the runs with one number of threads. */
struct fair {
    double between_threads, least, most, sums[MOST], squares[MOST];
    int runs;
};

static void look_at(struct fair *fair, int threads)
{
    double mean = (double)BURST / threads, squares = 0, least = BURST, most = 0;
    for (int i = 0; i < threads; i++) {
        double one = (double)each[i][0];
        squares += (one - mean) * (one - mean);
        least = one < least ? one : least;
        most = one > most ? one : most;
        fair->sums[i] += one;
        fair->squares[i] += one * one;
    }
    fair->between_threads += sqrt(squares / threads) / mean;
    fair->least += least;
    fair->most += most;
    fair->runs++;
}

static void report(const char *kind, int threads, double value, const char *unit, int pe)
{
    uccs_broadcast(UCCS_GROUP_WORLD, &value, sizeof value, pe);
    if (bench.me == 0)
        bench_result(value, unit, "%s.%d", kind, threads);
}

static void report_fairness(const struct fair *fair, int threads)
{
    double runs = fair->runs, mean = (double)BURST / threads, between = 0;
    for (int i = 0; i < threads; i++) {
        double average = fair->sums[i] / runs, variance = fair->squares[i] / runs - average * average;
        between += sqrt(variance > 0 ? variance : 0) / threads;
    }
    report("fairness", threads, fair->between_threads / runs, "deviation/mean", 1);
    report("least", threads, fair->least / runs, "callbacks", 1);
    report("most", threads, fair->most / runs, "callbacks", 1);
    report("between", threads, between / mean, "deviation/mean", 1);
}

static struct results {
    double injection[ROUNDS * BURSTS], sustained[2][ROUNDS], drain[ROUNDS * BURSTS];
    struct fair fair;
} results[KINDS];

static void start_threads(pthread_t *ids, int threads)
{
    atomic_store(&going, 1);
    for (long i = 0; i < threads && bench.me == 1; i++)
        pthread_create(&ids[i], 0, spin, (void *)i);
}

static void end_threads(const pthread_t *ids, int threads)
{
    atomic_store(&going, 0);
    for (int i = 0; i < threads && bench.me == 1; i++)
        pthread_join(ids[i], 0);
}

static void round_of(struct results *into, int threads, int round, int bursts, long many)
{
    pthread_t ids[MOST];
    for (int way = 0; way < 2; way++) {
        coarse = way;
        start_threads(ids, threads);
        for (int i = 0; i < bursts && !coarse; i++) {
            into->injection[round * bursts + i] = one_run(BURST);
            look_at(&into->fair, threads);
        }
        into->sustained[way][round] = one_run(many);
        for (int i = 0; i < bursts && !coarse; i++)
            into->drain[round * bursts + i] = drain_run();
        end_threads(ids, threads);
    }
    coarse = false;
}

int main(int argc, char **argv)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided); /* the benchmarks' frame; the measured part is uccs.h alone */
    bench_start(argc, argv);
    context = bench_context();
    uccs_am_register(context, COUNT, UCCS_AM_USER, count, 0);
    uccs_am_register(context, DONE, UCCS_AM_USER, done, 0);
    uccs_endpoint_create(context, UCCS_GROUP_WORLD, (bench.me + 1) % bench.pes, &peer);
    int rounds = bench.batches < 20 ? 3 : ROUNDS, bursts = bench.batches < 20 ? 5 : BURSTS;
    long many = bench.batches < 20 ? 20000 : 200000;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < KINDS; k++)
            round_of(&results[k], 1 << k, round, bursts, many);
    for (int k = 0, threads = 1; k < KINDS; k++, threads *= 2) {
        struct results *of = &results[k];
        int runs = rounds * bursts;
        report("injection", threads, 1e3 * BURST / bench_median(of->injection, runs), "Mmsg/s", 0);
        report("sustained", threads, 1e3 * (double)many / bench_median(of->sustained[0], rounds), "Mmsg/s", 0);
        report("coarse", threads, 1e3 * (double)many / bench_median(of->sustained[1], rounds), "Mmsg/s", 0);
        report("drain", threads, 1e3 * RESTING / bench_median(of->drain, runs), "Mmsg/s", 1);
        report_fairness(&of->fair, threads);
    }
    return bench_end("uccs_am", 0);
}
