/* Seed 001's active-message experiments, over uccs.h alone: PE 0 sends, T threads of PE 1 spin in uccs_progress.
 *
 *   injection.T      1050 messages, then an acknowledgement: messages a second (the median of many runs)
 *   sustained.T      many messages without a pause
 *   fairness.T       callbacks of each thread in the runs of 1050: deviation over mean
 *   coarse.T         sustained, with a mutex round every call of both sides, as the seed began
 *
 * 8-byte payloads, USER class. */
#include "bench.h"

#include <math.h>
#include <stdbool.h>

#if defined __has_include && __has_include(<uccs.h>)
#include <pthread.h>
#include <stdatomic.h>
#include <uccs.h>

enum { COUNT = 1, DONE = 2, BURST = 1050, MOST = 8 };

static uccs_context_t context;
static uccs_endpoint_t peer;
static atomic_long handled, goal, acknowledged;
static atomic_int going;
static _Thread_local long *mine;
static long each[MOST][8]; /* by thread, a line each */
static bool coarse;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void count(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)payload, (void)length, (void)argument;
    if (mine)
        ++*mine;
    if (atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed) + 1 == atomic_load(&goal))
        uccs_am_reply(token, DONE, UCCS_AM_USER, 0, 0);
}

static void done(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)payload, (void)length, (void)argument;
    atomic_fetch_add(&acknowledged, 1);
}

static void progress(void)
{
    if (coarse)
        pthread_mutex_lock(&mutex);
    uccs_progress();
    if (coarse)
        pthread_mutex_unlock(&mutex);
}

static void *spin(void *argument)
{
    mine = each[(long)argument];
    while (atomic_load_explicit(&going, memory_order_relaxed))
        progress();
    return 0;
}

/* Seconds from the first message to the acknowledgement; at PE 0. */
static double send_burst(long messages)
{
    long before = atomic_load(&acknowledged);
    uint64_t payload = 0;
    double start = bench_now();
    for (long i = 0; i < messages; i++) {
        if (coarse)
            pthread_mutex_lock(&mutex);
        uccs_am_short(context, peer, COUNT, UCCS_AM_USER, &payload, sizeof payload, 0);
        if (coarse)
            pthread_mutex_unlock(&mutex);
    }
    while (atomic_load(&acknowledged) == before)
        progress();
    return (bench_now() - start) * 1e-9;
}

/* PE 1's threads live for all runs of one kind; fairness: the mean over the runs of deviation / mean. */
static double measure(int threads, long messages, int runs, double *fairness)
{
    pthread_t ids[MOST];
    double seconds[64];
    *fairness = 0;
    atomic_store(&going, 1);
    for (long i = 0; i < threads && bench.me == 1; i++)
        pthread_create(&ids[i], 0, spin, (void *)i);
    for (int run = 0; run < runs; run++) {
        memset(each, 0, sizeof each);
        atomic_store(&handled, 0);
        atomic_store(&goal, messages);
        uccs_barrier(UCCS_GROUP_WORLD);
        if (bench.me == 0)
            seconds[run] = send_burst(messages);
        while (bench.me == 1 && atomic_load(&handled) < messages)
            usleep(100); /* the T threads alone are in progress */
        uccs_barrier(UCCS_GROUP_WORLD);
        double mean = (double)messages / threads, squares = 0;
        for (int i = 0; i < threads; i++)
            squares += ((double)each[i][0] - mean) * ((double)each[i][0] - mean);
        *fairness += sqrt(squares / threads) / mean / runs;
    }
    atomic_store(&going, 0);
    for (int i = 0; i < threads && bench.me == 1; i++)
        pthread_join(ids[i], 0);
    uccs_broadcast(UCCS_GROUP_WORLD, fairness, sizeof *fairness, 1);
    return bench.me == 0 ? (double)messages / bench_median(seconds, runs) / 1e6 : 0;
}

static void report(const char *kind, int threads, double value, const char *unit)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", kind, threads);
    if (bench.me == 0)
        bench_result(name, value, unit);
}

int main(int argc, char **argv)
{
    shmem_init(); /* the benchmarks' frame; what is measured is uccs.h alone */
    uccs_init();
    bench_start(argc, argv);
    uccs_context_create(0, &context);
    uccs_am_register(context, COUNT, UCCS_AM_USER, count, 0);
    uccs_am_register(context, DONE, UCCS_AM_USER, done, 0);
    uccs_endpoint_create(context, UCCS_GROUP_WORLD, (bench.me + 1) % bench.pes, &peer);
    int runs = bench.batches < 20 ? 20 : bench.batches;
    long many = bench.batches < 20 ? 100000 : 2000000;
    for (int threads = 1; threads <= MOST; threads *= 2) {
        double fairness, ignored;
        report("injection", threads, measure(threads, BURST, runs < 60 ? runs : 60, &fairness), "Mmsg/s");
        report("fairness", threads, fairness, "deviation/mean");
        report("sustained", threads, measure(threads, many, 3, &ignored), "Mmsg/s");
        coarse = true;
        report("coarse", threads, measure(threads, many / 4, 3, &ignored), "Mmsg/s");
        coarse = false;
    }
    uccs_context_destroy(context);
    bench_print("uccs_am");
    uccs_finalize();
    shmem_finalize();
    return 0;
}

#else /* a peer's OpenSHMEM has no such thing: nothing to show */
int main(int argc, char **argv)
{
    shmem_init();
    bench_start(argc, argv);
    bench_print("uccs_am");
    shmem_finalize();
    return 0;
}
#endif
