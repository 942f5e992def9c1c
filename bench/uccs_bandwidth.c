/* The bandwidth experiments of UCCS: puts and gets between pairs of PEs, both ways at once, by T threads of each PE. PEs
 * 2i and 2i + 1 are a pair. 2 PEs with T threads, and 2T PEs with one thread each, run the same number of streams:
 * threads against processes. All streams run for the same period, which PE 0 sets. Only the bytes that a
 * stream has moved by its end, and completed, count, so neither the start of threads nor their scheduling changes the
 * result.
 *
 *   put.T.SIZE, get.T.SIZE   sum over all streams, GB/s
 *   coarse.T.SIZE            puts with one mutex of the process round every call,
 *   oneway.T.SIZE, oneway_coarse.T.SIZE   the same puts from PE 0's threads alone, which have all cores
 *   multiple.SIZE, single.SIZE, memcpy.SIZE   one thread's put under MULTIPLE, under SINGLE, a bare copy, GB/s
 *
 * Runs over uccs.h if there is one. Without it (peers), or with --shmem, runs over putmem and getmem. With --ucx our
 * library goes through UCX on the node too. With --sides each side of the streams has its half of the cores (sides.h),
 * however many processes there are. */
#include "sides.h"

#include "bench.h"

#include <stdbool.h>

#if defined __has_include && __has_include(<uccs.h>)
#include <uccs.h>
#define HAVE_UCCS 1
#else
#define HAVE_UCCS 0
#endif
#include <pthread.h>

enum { MOST = 8, LARGEST = 4 << 20 };
enum kind { PUT, GET };

static int partner, threads;
static size_t size;
static double begin, moved; /* symmetric: PE 0's clock (a machine has one clock); bytes per ns */
static enum kind kind;
static int coarse, oneway;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *local[MOST];
static double rates[MOST];

/* Returns nanoseconds. They cover several time slices where streams outnumber cores. */
static double window(void)
{
    return bench.batches < 20 ? 8e6 : 15e6;
}

static char *symmetric; /* LARGEST bytes for each thread; null when running over uccs.h */

#if HAVE_UCCS
static uccs_context_t context;
static uccs_endpoint_t endpoint;
static uccs_memory_t own, there;

static void open_uccs(void)
{
    char mine[UCCS_MEMORY_HANDLE_MAX] = {0}, *all = bench_need(malloc((size_t)bench.pes * sizeof mine));
    size_t length = sizeof mine;
    uccs_init();
    bench_close = uccs_finalize;
    uccs_context_create(0, &context);
    uccs_memory_allocate(context, (size_t)MOST * LARGEST, &own);
    uccs_memory_export(own, mine, &length);
    uccs_allgather(UCCS_GROUP_WORLD, mine, all, sizeof mine);
    uccs_memory_import(context, all + (size_t)partner * sizeof mine, length, &there);
    uccs_endpoint_create(context, UCCS_GROUP_WORLD, partner, &endpoint);
    free(all);
}

static void put_uccs(size_t at, const char *from, size_t bytes)
{
    uccs_put_large_contiguous(context, endpoint, there, at, from, bytes, 0);
}

static void get_uccs(size_t at, char *to, size_t bytes)
{
    uccs_get_large_contiguous(context, endpoint, there, at, to, bytes, 0);
}

static void complete_uccs(void)
{
    uccs_flush(context);
}

#else
static void open_uccs(void) {}
static void put_uccs(size_t at, const char *from, size_t bytes)
{
    (void)at, (void)from, (void)bytes;
}
static void get_uccs(size_t at, char *to, size_t bytes)
{
    (void)at, (void)to, (void)bytes;
}
static void complete_uccs(void) {}
#endif

static inline void one_put(size_t at, const char *from, size_t bytes)
{
    if (symmetric)
        shmem_putmem(symmetric + at, from, bytes, partner);
    else
        put_uccs(at, from, bytes);
}

static inline void one_get(size_t at, char *to, size_t bytes)
{
    if (symmetric)
        shmem_getmem(to, symmetric + at, bytes, partner);
    else
        get_uccs(at, to, bytes);
}

static void complete(void)
{
    if (symmetric)
        shmem_quiet();
    else
        complete_uccs();
}

static void *stream(void *argument)
{
    size_t id = (size_t)argument, at = id * LARGEST;
    int group = size >= 4096 ? 1 : 256; /* operations between looks at the clock */
    double end = begin + window(), count = 0;
    while (bench_now() < begin)
        ;
    while (bench_now() < end) {
        for (int i = 0; i < group; i++) {
            if (coarse)
                pthread_mutex_lock(&mutex);
            if (kind == GET)
                one_get(at, local[id], size);
            else
                one_put(at, local[id], size);
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

/* Leaves the cores to the other PEs. Returns 0. */
static double sleep_out(void)
{
    usleep((useconds_t)((window() + 4e6) / 1e3));
    return 0;
}

/* Returns the GB/s over all PEs and threads, at PE 0. */
static double measure(void)
{
    double rate[32];
    int rounds = bench.batches < 20 ? 3 : 5;
    for (int round = 0; round < rounds; round++) {
        double soon = bench_now() + 2e6;
        for (int pe = 0; pe < bench.pes && bench.me == 0; pe++)
            shmem_double_p(&begin, soon, pe);
        shmem_barrier_all();
        moved = oneway && bench.me != 0 ? sleep_out() : run_threads();
        shmem_barrier_all();
        rate[round] = 0;
        for (int pe = 0; pe < bench.pes && bench.me == 0; pe++)
            rate[round] += shmem_double_g(&moved, pe);
        shmem_barrier_all();
    }
    return bench_median(rate, rounds);
}

static void report(const char *name)
{
    double rate = measure();
    if (bench.me == 0)
        bench_result(rate, "GB/s", "%s.%d.%zu", name, threads, size);
}

static void measure_size(void)
{
    for (oneway = 0; oneway < 2; oneway++)
        for (coarse = 0; coarse < 2; coarse++)
            report(oneway ? coarse ? "oneway_coarse" : "oneway" : coarse ? "coarse" : "put");
    oneway = coarse = 0;
    kind = GET;
    report("get");
    kind = PUT;
}

#if HAVE_UCCS
struct mode {
    uccs_context_t context;
    uccs_endpoint_t endpoint;
};

static void put_in(long n, void *argument)
{
    const struct mode *mode = argument;
    for (long i = 0; i < n; i++)
        uccs_put_large_contiguous(mode->context, mode->endpoint, there, 0, local[0], size, 0);
}

static void copy_alone(long n, void *to)
{
    for (long i = 0; i < n; i++) {
        memcpy(to, local[0], size);
        __asm__ volatile("" ::: "memory");
    }
}

/* Compares the same put in a context of each kind, and bare copies. */
static void compare_modes(void)
{
    static const size_t sizes[] = {8, 4096, 262144};
    struct uccs_memory_attr attr;
    struct mode multiple = {context, endpoint}, single;
    const char *const names[] = {"multiple", "single", "memcpy"};
    double ns[3];
    uccs_context_create(&(struct uccs_context_attr){.id = 1, .threads = UCCS_THREAD_SINGLE}, &single.context);
    uccs_endpoint_create(single.context, UCCS_GROUP_WORLD, partner, &single.endpoint);
    uccs_memory_query(there, &attr);
    for (int s = 0; s < 3; s++) {
        size = sizes[s];
        bench_rounds((const struct bench_kind[]){{NULL, put_in, &multiple},
                                                 {NULL, put_in, &single},
                                                 {NULL, copy_alone, attr.address}},
                     3, ns, BENCH_ALONE);
        for (int k = 0; k < 3; k++)
            bench_result((double)size / ns[k], "GB/s", "%s.%zu", names[k], size);
    }
}
#else
static void compare_modes(void) {}
#endif

static int has_flag(int argc, char **argv, const char *flag)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], flag) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int provided, most, by_shmem = !HAVE_UCCS || has_flag(argc, argv, "--shmem");
    if (has_flag(argc, argv, "--ucx"))
        setenv("LATERAL_TRANSPORTS", "ucx", 1);
    if (has_flag(argc, argv, "--sides"))
        sides_take();
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    bench_start(argc, argv);
    most = provided == SHMEM_THREAD_MULTIPLE && bench.pes == 2 ? MOST : 1;
    partner = bench.me ^ 1;
    for (int id = 0; id < MOST; id++)
        memset(local[id] = bench_need(aligned_alloc(4096, LARGEST)), id, LARGEST);
    if (by_shmem)
        symmetric = bench_need(shmem_malloc((size_t)MOST * LARGEST));
    else
        open_uccs();
    for (threads = 1; threads <= most; threads *= 2) {
        for (size = 16384; size <= LARGEST; size *= 4)
            measure_size();
        size = 8;
        measure_size();
    }
    if (!by_shmem && bench.me == 0 && bench.pes == 2)
        compare_modes();
    return bench_end("uccs_bandwidth", 0);
}
