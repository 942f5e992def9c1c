/* Measures contexts of threads: threads of PE 0 work on PE 1, each by its own context, or all by a shared one.
 *
 *   own.put.T, shared.put.T    ns per 8-byte nbi put, all threads together, a quiet of the context every WINDOW
 *   own.get.T, shared.get.T    ns per blocking 8-byte get, all threads together
 *
 * It needs PEs that do not share memory: --ucx makes it so on this node. --one gives the PE the service worker alone:
 *
 *   oshcc -O2 -o contexts bench/contexts.c && oshrun -n 2 ./contexts --ucx && oshrun -n 2 ./contexts --ucx --one */
#include "bench.h"

#include <pthread.h>

enum { MOST = 4, WINDOW = 64, ROUNDS = 15 };

static long box[MOST][WINDOW];
static shmem_ctx_t shared, own[MOST];
static pthread_barrier_t line;
static long windows;
static int gets, apart;

static void *work(void *argument)
{
    long id = (long)argument, value[WINDOW] = {0};
    shmem_ctx_t ctx = apart ? own[id] : shared;
    pthread_barrier_wait(&line);
    for (long n = 0; n < windows; n++) {
        for (long i = 0; i < (gets ? 1 : WINDOW); i++) {
            if (gets)
                value[i] += shmem_ctx_long_g(ctx, &box[id][i], 1);
            else
                shmem_ctx_long_put_nbi(ctx, &box[id][i], &value[i], 1, 1);
        }
        if (!gets)
            shmem_ctx_quiet(ctx);
    }
    pthread_barrier_wait(&line);
    return 0;
}

static double once(int threads)
{
    pthread_t others[MOST];
    pthread_barrier_init(&line, 0, (unsigned)threads + 1);
    for (long id = 0; id < threads; id++)
        pthread_create(&others[id], 0, work, (void *)id);
    pthread_barrier_wait(&line);
    double start = bench_now();
    pthread_barrier_wait(&line);
    double took = bench_now() - start;
    for (int id = 0; id < threads; id++)
        pthread_join(others[id], 0);
    pthread_barrier_destroy(&line);
    return took / (double)(windows * threads * (gets ? 1 : WINDOW));
}

static void measure(int threads)
{
    static double took[2][ROUNDS];
    int rounds = bench.quick ? 3 : ROUNDS;
    windows = (gets ? 2000 : 300) / (bench.quick ? 10 : 1);
    for (int round = 0; round < rounds; round++)
        for (apart = 0; apart < 2; apart++)
            took[apart][round] = once(threads);
    for (apart = 0; apart < 2; apart++) {
        bench_result(bench_median(took[apart], rounds), "ns", "%s.%s.%d", apart ? "own" : "shared",
                     gets ? "get" : "put", threads);
    }
}

static void choose(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--ucx") == 0)
            setenv("LATERAL_TRANSPORTS", "ucx", 1);
        if (strcmp(argv[i], "--one") == 0)
            setenv("LATERAL_LANES", "1", 1);
    }
}

int main(int argc, char **argv)
{
    int provided;
    choose(argc, argv);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    bench_start(argc, argv);
    shmem_ctx_create(0, &shared);
    for (int id = 0; id < MOST; id++)
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &own[id]);
    shmem_barrier_all();
    for (gets = 0; gets < 2 && bench.me == 0; gets++)
        for (int threads = 1; threads <= MOST; threads *= 2)
            measure(threads);
    return bench_end("contexts", 0);
}
