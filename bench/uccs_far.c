/* Measures streams and atomics of uccs.h between nodes. PE 0 works on PE 1, which waits.
 *
 *   beside               ns of a put of 8 bytes and its flush, by one thread in a stream of thread scope, while another thread of
 *                        the same stream puts 8 KB again and again
 *   beside_nb, other_nb  the same beside non-blocking puts; beside a thread in a stream of its own
 *   X.alone, X.p90       the same while the other thread sleeps, in turns; the 90th percentile beside it
 *   X.rate               GB/s of the other thread
 *   add.blocking, add.64 ns of a fetching add; with 64 of them under way, one request
 *   add.posted           ns of an add whose old value nobody wants, with a flush after 64
 *
 * PEs go through UCX on one node too, and over TCP as between hosts unless UCX_TLS says otherwise. Each has its half of the
 * cores (sides.h):
 *
 *   oshcc -O2 -o uccs_far bench/uccs_far.c && oshrun -n 2 ./uccs_far */
#include "sides.h"

#include "bench.h"
#include "uccs_share.h"

#include <pthread.h>

enum { WINDOW = 64, BLOCK = 8192, ROUNDS = 60, FLUSHES = 60, BYTES = 1 << 20 };

static uccs_context_t context;
static uccs_memory_t memory;
static uccs_stream_t streams[2];
static uccs_endpoint_t endpoints[2]; /* of the streams */
static int wanted, working, other;   /* of the other thread: shall work (-1: end), works; its stream */
static int blocking;                 /* its puts */
static double moved;                 /* bytes */

static int load_flag(int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void store_flag(int *flag, int value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* --- Flush */

static void *put_blocks(void *argument)
{
    static char block[BLOCK];
    static const struct uccs_op later = {.nonblocking = 1};
    (void)argument;
    while (load_flag(&wanted) >= 0) {
        if (!load_flag(&wanted)) {
            usleep(100);
            continue;
        }
        store_flag(&working, 1);
        while (load_flag(&wanted) == 1) {
            bench_ok(uccs_put(endpoints[other], memory, BLOCK, block, BLOCK, blocking ? 0 : &later));
            moved += BLOCK;
        }
        bench_ok(uccs_stream_flush(streams[other], 0, 0));
        store_flag(&working, 0);
    }
    return 0;
}

/* Lets the other thread work (1) or stop (0), and waits until it does. */
static void turn_thread(int work)
{
    store_flag(&wanted, work);
    while (load_flag(&working) != work)
        usleep(20);
}

static double flush_once(void)
{
    static long value = 1;
    double start = bench_now();
    bench_ok(uccs_put(endpoints[0], memory, 0, &value, sizeof value, 0));
    bench_ok(uccs_stream_flush(streams[0], 0, 0));
    return bench_now() - start;
}

static double flush_some(double *each, int n)
{
    double start = bench_now();
    for (int i = 0; i < n; i++)
        each[i] = flush_once();
    return bench_now() - start;
}

static void measure_flush(const char *name, int stream, int waits)
{
    static double alone[ROUNDS * FLUSHES], beside[ROUNDS * FLUSHES];
    const int rounds = bench.quick ? 5 : ROUNDS;
    double took = 0, first, second;
    other = stream;
    blocking = waits;
    moved = 0;
    for (int round = 0; round < rounds; round++) {
        flush_some(alone + (size_t)round * FLUSHES, FLUSHES);
        turn_thread(1);
        took += flush_some(beside + (size_t)round * FLUSHES, FLUSHES);
        turn_thread(0);
    }
    first = bench_median(alone, rounds * FLUSHES);
    second = bench_median(beside, rounds * FLUSHES);
    bench_result(second, "ns", "%s", name);
    bench_result(first, "ns", "%s.alone", name);
    bench_result(beside[rounds * FLUSHES * 9 / 10], "ns", "%s.p90", name);
    bench_result(moved / took, "GB/s", "%s.rate", name);
}

/* --- Atomics */

static uint64_t old[WINDOW];

static void add_blocking(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        bench_ok(uccs_atomic64(context, endpoints[0], memory, 0, UCCS_ATOMIC_ADD, 1, 0, old, 0));
}

static void add_some(long n, void *arg)
{
    uccs_request_t *request = arg;
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < WINDOW; k++)
            bench_ok(uccs_atomic64(context, endpoints[0], memory, 0, UCCS_ATOMIC_ADD, 1, 0, &old[k],
                                   &(struct uccs_op){.request = request, .nonblocking = 1}));
        bench_ok(uccs_wait(request));
    }
}

static void add_posted(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < WINDOW; k++)
            bench_ok(uccs_atomic64(context, endpoints[0], memory, 0, UCCS_ATOMIC_ADD, 1, 0, 0,
                                   &(struct uccs_op){.nonblocking = 1}));
        bench_ok(uccs_stream_flush(streams[0], 0, 0));
    }
}

static void measure_adds(void)
{
    uccs_request_t request = UCCS_REQUEST_NULL;
    bench.batch_ns = 1e6;
    bench_kinds(&(struct bench_kind){"add.blocking", add_blocking, NULL}, 1, BENCH_ALONE, 1, 0);
    bench_kinds((const struct bench_kind[]){{"add.64", add_some, &request}, {"add.posted", add_posted, NULL}}, 2,
                BENCH_ALONE, 1.0 / WINDOW, 0);
}

/* --- Start */

static void measure_all(void)
{
    pthread_t thread;
    const struct uccs_stream_attr attr = {.scope = UCCS_SCOPE_THREAD};
    for (int i = 0; i < 2; i++) {
        bench_ok(uccs_stream_create(context, &attr, &streams[i]));
        bench_ok(uccs_stream_endpoint(streams[i], UCCS_GROUP_WORLD, bench.pes - 1, &endpoints[i]));
    }
    measure_adds();
    if (pthread_create(&thread, 0, put_blocks, 0) != 0)
        exit(1);
    measure_flush("beside", 0, 1);
    measure_flush("beside_nb", 0, 0);
    measure_flush("other_nb", 1, 0);
    store_flag(&wanted, -1);
    pthread_join(thread, 0);
    for (int i = 0; i < 2; i++)
        bench_ok(uccs_stream_release(streams[i]));
}

int main(int argc, char **argv)
{
    int provided;
    uccs_memory_t own;
    setenv("LATERAL_TRANSPORTS", "ucx", 1);
    setenv("UCX_TLS", "tcp,self", 0);
    sides_take();
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    bench_start(argc, argv);
    context = bench_context();
    bench_ok(uccs_memory_allocate(context, BYTES, &own));
    memory = bench_share(own, bench.pes - 1);
    shmem_barrier_all();
    if (bench.me == 0)
        measure_all();
    return bench_end("uccs_far", 0);
}
