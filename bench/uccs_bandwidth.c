/* The bandwidth experiments of UCCS: puts and gets between pairs of PEs, both ways at once, by T threads of each PE. PEs
 * 2i and 2i + 1 are a pair. 2 PEs with T threads, and 2T PEs with one thread each, run the same number of streams:
 * threads against processes. All streams run for the same period, which PE 0 sets. Only the bytes that a stream has moved by its end, and
 * completed, count, so neither the start of threads nor their scheduling changes the result.
 *
 *   put.T.SIZE, get.T.SIZE                sum over all streams, GB/s
 *   oneway.T.SIZE, oneway_coarse.T.SIZE   puts from PE 0's threads alone, which have all cores; with one mutex of the process round
 *                                         every call
 *
 * Runs over uccs.h if there is one. Without it (peers), with --ucx, or with --brief, runs over putmem and getmem. With --brief it measures
 * million puts of 8 bytes, one way alone, while the other process waits in a barrier: some libraries move nothing while it sleeps.
 * With --ucx our library goes through UCX on the node too, and even PEs have one half of the cores, odd PEs the other, as on two hosts:
 * the kernel may place two PEs on one core, where a stream between them is far faster, or a PE's threads on the core of its target. */
#define _GNU_SOURCE
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#if defined __has_include && __has_include(<uccs.h>)
#include "uccs_open.h"
#define HAVE_UCCS 1
#else
#define HAVE_UCCS 0
#endif

enum { MOST = 8, LARGEST = 4 << 20 };

static int partner, threads;
static size_t size;
static double begin, moved; /* symmetric: PE 0's clock (a machine has one clock); bytes per ns */
static bool gets, coarse, oneway, brief;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *local[MOST], *symmetric; /* LARGEST bytes for each thread; symmetric: null when running over uccs.h */
static double rates[MOST];

static double window; /* nanoseconds, several time slices where streams outnumber cores */

#if HAVE_UCCS
static uccs_context_t context;
static uccs_endpoint_t endpoint;
static uccs_memory_t own, there;

static void open_uccs(void)
{
    char mine[UCCS_MEMORY_HANDLE_MAX] = {0}, *all = bench_need(malloc((size_t)bench.pes * sizeof mine));
    size_t length = sizeof mine;
    context = bench_context(partner, &endpoint);
    bench_ok(uccs_memory_allocate(context, (size_t)MOST * LARGEST, &own));
    bench_ok(uccs_memory_export(own, mine, &length));
    bench_ok(uccs_allgather(UCCS_GROUP_WORLD, mine, all, sizeof mine));
    bench_ok(uccs_memory_import(context, all + (size_t)partner * sizeof mine, length, &there));
    free(all);
}
#endif

static inline void move(size_t id)
{
    const size_t at = id * LARGEST;
#if HAVE_UCCS
    if (!symmetric && gets)
        uccs_get_large_contiguous(context, endpoint, there, at, local[id], size, 0);
    else if (!symmetric)
        uccs_put_large_contiguous(context, endpoint, there, at, local[id], size, 0);
    else
#endif
        if (gets)
        shmem_getmem(local[id], symmetric + at, size, partner);
    else
        shmem_putmem(symmetric + at, local[id], size, partner);
}

static void complete(void)
{
#if HAVE_UCCS
    if (!symmetric)
        uccs_flush(context);
    else
#endif
        shmem_quiet();
}

static void *stream(void *argument)
{
    size_t id = (size_t)argument;
    int group = size >= 4096 ? 1 : 256; /* operations between looks at the clock */
    double end = begin + window, count = 0;
    while (bench_now() < begin)
        ;
    while (bench_now() < end) {
        for (int i = 0; i < group; i++) {
            if (coarse)
                pthread_mutex_lock(&mutex);
            move(id);
            if (coarse)
                pthread_mutex_unlock(&mutex);
        }
        count += group;
    }
    complete();
    rates[id] = count * (double)size / (bench_now() - begin);
    return 0;
}

/* Returns the bytes per nanosecond of this PE's threads. */
static double run_threads(void)
{
    pthread_t ids[MOST];
    double sum = 0;
    for (size_t id = 1; id < (size_t)threads; id++)
        pthread_create(&ids[id], 0, stream, (void *)id);
    stream(0);
    for (int id = 1; id < threads; id++)
        pthread_join(ids[id], 0);
    for (int id = 0; id < threads; id++)
        sum += rates[id];
    return sum;
}

/* Reports the GB/s over all PEs and threads. */
static void measure(const char *name)
{
    double rate[5];
    int rounds = bench.quick ? 3 : 5;
    for (int round = 0; round < rounds; round++) {
        double soon = bench_now() + 2e6;
        for (int pe = 0; pe < bench.pes && bench.me == 0; pe++)
            shmem_double_p(&begin, soon, pe);
        shmem_barrier_all();
        moved = 0;
        if (oneway && bench.me != 0 && !brief)
            usleep((useconds_t)((window + 4e6) / 1e3)); /* leaves the cores to the other PEs */
        else if (!oneway || bench.me == 0)
            moved = run_threads();
        shmem_barrier_all();
        rate[round] = 0;
        for (int pe = 0; pe < bench.pes && bench.me == 0; pe++)
            rate[round] += shmem_double_g(&moved, pe);
        shmem_barrier_all();
    }
    const double puts = brief ? 1e3 / (double)size : 1; /* in a byte of a nanosecond, millions a second */
    bench_result(puts * bench_median(rate, rounds), brief ? "M/s" : "GB/s", "%s.%d.%zu", name, threads, size);
}

static void measure_size(size_t bytes)
{
    size = bytes;
    oneway = brief;
    measure(brief ? "oneway" : "put");
    if (brief)
        return;
    gets = true;
    measure("get");
    gets = false;
    oneway = true;
    measure("oneway");
    coarse = true;
    measure("oneway_coarse");
    coarse = false;
}

/* Lateral's launcher alone says which PE this is before init; elsewhere this does nothing. */
static void take_side(void)
{
    const char *pe = getenv("LATERAL_PE");
    cpu_set_t all, mine;
    int number = 0;
    if (!pe || sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_ZERO(&mine);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all) && number++ % 2 == atoi(pe) % 2)
            CPU_SET(core, &mine);
    if (CPU_COUNT(&mine) > 0)
        (void)sched_setaffinity(0, sizeof mine, &mine);
}

int main(int argc, char **argv)
{
    int provided, by_ucx = bench_has(argc, argv, "--ucx");
    brief = bench_has(argc, argv, "--brief");
    if (by_ucx) {
        setenv("LATERAL_TRANSPORTS", "ucx", 1);
        take_side(); /* before init, so that the library's threads keep to the same cores */
    }
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    bench_start(argc, argv);
    window = bench.quick ? 8e6 : 15e6;
    const int most = provided == SHMEM_THREAD_MULTIPLE && bench.pes == 2 ? MOST : 1;
    partner = bench.me ^ 1;
    for (int id = 0; id < MOST; id++)
        memset(local[id] = bench_need(aligned_alloc(4096, LARGEST)), id, LARGEST);
    if (!HAVE_UCCS || by_ucx || brief)
        symmetric = bench_need(shmem_malloc((size_t)MOST * LARGEST));
#if HAVE_UCCS
    else
        open_uccs();
#endif
    for (threads = 1; threads <= most; threads *= 2) {
        for (size_t bytes = 16384; bytes <= LARGEST && !brief; bytes *= 4)
            measure_size(bytes);
        measure_size(8);
    }
    return bench_end("uccs_bandwidth", 0);
}
