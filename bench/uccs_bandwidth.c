/* Seed 001's bandwidth experiments: puts and gets between pairs of PEs, both ways at once, by T threads of each PE.
 * PE i < n/2 and PE i + n/2 are a pair. Run with 2 PEs and T threads, and with 2T PEs and one thread each, the same
 * number of streams runs: threads against processes.
 *
 *   put.T.SIZE, get.T.SIZE   sum over all streams, GB/s
 *   coarse.T.SIZE            puts with one mutex of the process round every call, as the seed began
 *   multiple.SIZE, single.SIZE, memcpy.SIZE   one thread's put under MULTIPLE, under SINGLE, a bare copy, GB/s
 *
 * Over uccs.h where it is, else (peers, one thread) over putmem and getmem. */
#include "bench.h"

#include <stdbool.h>

#if defined __has_include && __has_include(<uccs.h>)
#include <uccs.h>
#define HAVE_UCCS 1
#else
#define HAVE_UCCS 0
#endif
#include <pthread.h>

enum { MOST = 4, LARGEST = 4 << 20 };
enum kind { PUT, GET, COARSE };

static int partner, threads;
static size_t size;
static long repeats;
static enum kind kind;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *local[MOST];

#if HAVE_UCCS
static uccs_context_t context;
static uccs_endpoint_t endpoint;
static uccs_memory_t own, there;

static void open_pair(void)
{
    char mine[UCCS_MEMORY_HANDLE_MAX] = {0}, *all = bench_need(malloc((size_t)bench.pes * sizeof mine));
    size_t length = sizeof mine;
    uccs_init();
    uccs_context_create(0, &context);
    uccs_memory_allocate(context, (size_t)MOST * LARGEST, &own);
    uccs_memory_export(own, mine, &length);
    uccs_allgather(UCCS_GROUP_WORLD, mine, all, sizeof mine);
    uccs_memory_import(context, all + (size_t)partner * sizeof mine, length, &there);
    uccs_endpoint_create(context, UCCS_GROUP_WORLD, partner, &endpoint);
    free(all);
}

static void one_put(size_t at, const char *from, size_t bytes)
{
    uccs_put_large_contiguous(context, endpoint, there, at, from, bytes, 0);
}

static void one_get(size_t at, char *to, size_t bytes)
{
    uccs_get_large_contiguous(context, endpoint, there, at, to, bytes, 0);
}

static void complete(void)
{
    uccs_flush(context);
}
static void close_pair(void)
{
    uccs_finalize();
}
#else
static char *symmetric; /* a stream's share of LARGEST bytes for each thread */

static void close_pair(void)
{
    shmem_free(symmetric);
}

static void open_pair(void)
{
    symmetric = bench_need(shmem_malloc((size_t)MOST * LARGEST));
}

static void one_put(size_t at, const char *from, size_t bytes)
{
    shmem_putmem(symmetric + at, from, bytes, partner);
}

static void one_get(size_t at, char *to, size_t bytes)
{
    shmem_getmem(to, symmetric + at, bytes, partner);
}

static void complete(void)
{
    shmem_quiet();
}
#endif

static void *stream(void *argument)
{
    size_t id = (size_t)argument, at = id * LARGEST;
    for (long i = 0; i < repeats; i++) {
        if (kind == COARSE)
            pthread_mutex_lock(&mutex);
        if (kind == GET)
            one_get(at, local[id], size);
        else
            one_put(at, local[id], size);
        if (kind == COARSE)
            pthread_mutex_unlock(&mutex);
    }
    complete();
    return 0;
}

/* GB/s over all PEs and threads. */
static double measure(void)
{
    double took[32], rate = 0;
    int rounds = bench.batches < 20 ? 3 : 9;
    repeats = (64l << 20) / (long)size / (bench.batches < 20 ? 8 : 1) / threads;
    if (repeats > 100000)
        repeats = 100000;
    repeats += repeats == 0;
    for (int round = -1; round < rounds; round++) {
        pthread_t ids[MOST];
        shmem_barrier_all();
        double start = bench_now();
        for (size_t id = 1; id < (size_t)threads; id++)
            pthread_create(&ids[id], 0, stream, (void *)id);
        stream(0);
        for (int id = 1; id < threads; id++)
            pthread_join(ids[id], 0);
        shmem_barrier_all();
        if (round >= 0)
            took[round] = bench_now() - start;
    }
    rate = (double)size * (double)repeats * threads * bench.pes / bench_median(took, rounds);
    return rate;
}

static void report(const char *name)
{
    char text[48];
    double rate = measure();
    snprintf(text, sizeof text, "%s.%d.%zu", name, threads, size);
    if (bench.me == 0)
        bench_result(text, rate, "GB/s");
}

static void put_alone(long n, void *bytes)
{
    for (long i = 0; i < n; i++)
        one_put(0, local[0], (size_t)bytes);
}

#if HAVE_UCCS
static void copy_alone(long n, void *bytes)
{
    struct uccs_memory_attr attr;
    uccs_memory_query(there, &attr);
    for (long i = 0; i < n; i++) {
        memcpy(attr.address, local[0], (size_t)bytes);
        __asm__ volatile("" ::: "memory");
    }
}

/* In turns, as the machine is not the same at all times: the same put in a context of each kind, and bare copies. */
static void compare_modes(void)
{
    static const size_t sizes[] = {8, 4096, 262144};
    uccs_context_t multiple = context, single;
    uccs_endpoint_t to_multiple = endpoint, to_single;
    uccs_context_create(&(struct uccs_context_attr){.id = 1, .threads = UCCS_THREAD_SINGLE}, &single);
    uccs_endpoint_create(single, UCCS_GROUP_WORLD, partner, &to_single);
    for (int s = 0; s < 3; s++) {
        double each[3][BENCH_MOST_BATCHES];
        void *bytes = (void *)sizes[s];
        long n = bench_calibrate(put_alone, bytes);
        for (int i = 0; i < bench.batches; i++) {
            each[0][i] = bench_time(put_alone, n, bytes) / (double)n;
            context = single;
            endpoint = to_single;
            each[1][i] = bench_time(put_alone, n, bytes) / (double)n;
            context = multiple;
            endpoint = to_multiple;
            each[2][i] = bench_time(copy_alone, n, bytes) / (double)n;
        }
        for (int k = 0; k < 3; k++) {
            char name[48];
            snprintf(name, sizeof name, "%s.%zu", k == 0 ? "multiple" : k == 1 ? "single" : "memcpy", sizes[s]);
            bench_result(name, (double)sizes[s] / bench_median(each[k], bench.batches), "GB/s");
        }
    }
    uccs_context_destroy(single);
}
#else
static void compare_modes(void)
{
    (void)put_alone;
}
#endif

int main(int argc, char **argv)
{
    int provided, most = HAVE_UCCS ? MOST : 1;
    shmem_init_thread(HAVE_UCCS ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
    bench_start(argc, argv);
    partner = (bench.me + bench.pes / 2) % bench.pes;
    for (int id = 0; id < MOST; id++)
        memset(local[id] = bench_need(aligned_alloc(4096, LARGEST)), id, LARGEST);
    open_pair();
    for (threads = 1; threads <= (bench.pes == 2 ? most : 1); threads *= 2) {
        for (size = 16384; size <= LARGEST; size *= 16) {
            kind = PUT;
            report("put");
            kind = GET;
            report("get");
            kind = COARSE;
            report("coarse");
        }
        size = 8;
        kind = PUT;
        report("put");
        kind = COARSE;
        report("coarse");
    }
    if (bench.me == 0 && bench.pes == 2)
        compare_modes();
    bench_print("uccs_bandwidth");
    shmem_barrier_all();
    close_pair();
    shmem_finalize();
    return 0;
}
