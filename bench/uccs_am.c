/* The active-message experiments of UCCS, over uccs.h alone. PE 0 sends; T threads of PE 1 spin in uccs_progress.
 *
 *   injection.T      1050 messages, then an acknowledgement: messages a second (the median of many runs)
 *   fairness.T       callbacks of each thread in a run of 1050: deviation between the threads over the mean
 *   between.T        deviation of one thread's callbacks between the runs over their mean
 *
 * 8-byte payloads, USER class. All kinds take turns, because the machine changes over time. */
#include "bench.h"
#include "uccs_open.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { COUNT = 1, DONE = 2, BURST = 1050, MOST = 8, KINDS = 4, ROUNDS = 15, BURSTS = 20 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static atomic_long handled, acknowledged;
static atomic_bool going; /* the threads spin in progress; else they end */
static _Thread_local long *mine;
static long each[MOST][8]; /* by thread, one line each */
static long ready;         /* symmetric, at PE 0; counts runs in which PE 1's main thread has left progress */

static void count(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)payload, (void)length, (void)argument;
    if (mine)
        ++*mine;
    if (atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed) + 1 == BURST)
        uccs_am_reply(token, DONE, UCCS_AM_USER, 0, 0);
}

static void done(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    atomic_fetch_add(&acknowledged, 1);
}

static void *spin(void *argument)
{
    mine = each[(long)argument];
    while (atomic_load_explicit(&going, memory_order_relaxed))
        uccs_progress();
    return 0;
}

/* Returns the nanoseconds from the first message to the acknowledgement. Runs at PE 0. */
static double send_burst(void)
{
    const uint64_t payload = 0;
    long before = atomic_load(&acknowledged);
    double start = bench_now();
    for (int i = 0; i < BURST; i++)
        uccs_am_short(context, peer, COUNT, UCCS_AM_USER, &payload, sizeof payload, 0);
    while (atomic_load(&acknowledged) == before)
        uccs_progress();
    return bench_now() - start;
}

/* Returns send_burst's time at PE 0. At PE 1 only the T threads are in progress; main sleeps. */
static double one_run(void)
{
    double took = 0;
    static long runs;
    memset(each, 0, sizeof each);
    atomic_store(&handled, 0);
    uccs_barrier(UCCS_GROUP_WORLD);
    runs++;
    if (bench.me == 1)
        shmem_long_atomic_inc(&ready, 0);
    while (bench.me == 1 && atomic_load(&handled) < BURST)
        usleep(100);
    while (bench.me == 0 && shmem_long_atomic_fetch(&ready, 0) < runs)
        bench_relax();
    if (bench.me == 0)
        took = send_burst();
    uccs_barrier(UCCS_GROUP_WORLD);
    return took;
}

/* The results of the runs with 1, 2, 4 and 8 threads. */
static struct results {
    double injection[ROUNDS * BURSTS], between_threads, sums[MOST], squares[MOST];
} results[KINDS];

static void look_at(struct results *fair, int threads)
{
    double mean = (double)BURST / threads, squares = 0;
    for (int i = 0; i < threads; i++) {
        double one = (double)each[i][0];
        squares += (one - mean) * (one - mean);
        fair->sums[i] += one;
        fair->squares[i] += one * one;
    }
    fair->between_threads += sqrt(squares / threads) / mean;
}

/* PE 1 knows how its threads have shared the messages. */
static void report(const char *kind, int threads, double value)
{
    uccs_broadcast(UCCS_GROUP_WORLD, &value, sizeof value, 1);
    bench_result(value, "deviation/mean", "%s.%d", kind, threads);
}

static void report_fairness(const struct results *fair, int threads, int runs)
{
    double mean = (double)BURST / threads, between = 0;
    for (int i = 0; i < threads; i++) {
        double average = fair->sums[i] / runs, variance = fair->squares[i] / runs - average * average;
        between += sqrt(variance > 0 ? variance : 0) / threads;
    }
    report("fairness", threads, fair->between_threads / runs);
    report("between", threads, between / mean);
}

static void round_of(struct results *into, int threads, int first, int bursts)
{
    pthread_t ids[MOST];
    atomic_store(&going, true);
    for (long i = 0; i < threads && bench.me == 1; i++)
        pthread_create(&ids[i], 0, spin, (void *)i);
    for (int i = 0; i < bursts; i++) {
        into->injection[first + i] = one_run();
        look_at(into, threads);
    }
    atomic_store(&going, false);
    for (int i = 0; i < threads && bench.me == 1; i++)
        pthread_join(ids[i], 0);
}

int main(int argc, char **argv)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided); /* the benchmarks' frame; the measured part is uccs.h alone */
    bench_start(argc, argv);
    context = bench_context((bench.me + 1) % bench.pes, &peer);
    uccs_am_register(context, COUNT, UCCS_AM_USER, count, 0);
    uccs_am_register(context, DONE, UCCS_AM_USER, done, 0);
    const int rounds = bench.quick ? 3 : ROUNDS, bursts = bench.quick ? 5 : BURSTS;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < KINDS; k++)
            round_of(&results[k], 1 << k, round * bursts, bursts);
    for (int k = 0; k < KINDS; k++) {
        bench_result(1e3 * BURST / bench_median(results[k].injection, rounds * bursts), "Mmsg/s", "injection.%d",
                     1 << k);
        report_fairness(&results[k], 1 << k, rounds * bursts);
    }
    return bench_end("uccs_am", 0);
}
