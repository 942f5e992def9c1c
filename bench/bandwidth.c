/* Measures how fast put and get are, 4 KiB to 16 MiB, against memcpy of the same sizes in the same process.
 *
 * 2 PEs: PE 0 moves, PE 1 waits. `memcpy` copies between the same two places as put, `memcpy.from` as get (the peer's
 * memory by shmem_ptr, else an own symmetric buffer). `memcpy.private` copies between two private buffers. Kinds take
 * turns batch by batch, so that a slow moment hits all of them. */
#include "bench.h"

enum { LARGEST = 16 << 20, KINDS = 5 };

static struct {
    char *symmetric, *direct, *from, *to;
    size_t size;
    int pe;
} b;

static void do_memcpy(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++) {
        memcpy(b.direct, b.from, b.size);
        __asm__ volatile("" ::: "memory"); /* keeps the compiler from dropping a copy */
    }
}

static void do_memcpy_from(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++) {
        memcpy(b.to, b.direct, b.size);
        __asm__ volatile("" ::: "memory");
    }
}

static void do_memcpy_private(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++) {
        memcpy(b.to, b.from, b.size);
        __asm__ volatile("" ::: "memory");
    }
}

static void do_put(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_putmem(b.symmetric, b.from, b.size, b.pe);
    shmem_quiet();
}

static void do_get(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_getmem(b.to, b.symmetric, b.size, b.pe);
}

static void measure(void)
{
    static const struct {
        const char *name;
        bench_loop *loop;
    } kinds[KINDS] = {{"memcpy", do_memcpy},
                      {"put", do_put},
                      {"memcpy.from", do_memcpy_from},
                      {"get", do_get},
                      {"memcpy.private", do_memcpy_private}};
    double each[KINDS][BENCH_MOST_BATCHES];
    long n[KINDS];
    for (int k = 0; k < KINDS; k++) /* over a network a put takes far longer than a copy */
        n[k] = bench_calibrate(kinds[k].loop, NULL);
    for (int i = -1; i < bench.batches; i++) /* the first batch warms up */
        for (int k = 0; k < KINDS; k++) {
            double took = bench_time(kinds[k].loop, n[k], NULL);
            if (i >= 0)
                each[k][i] = (double)b.size * (double)n[k] / took;
        }
    for (int k = 0; k < KINDS; k++) {
        bench_result(bench_median(each[k], bench.batches), "GB/s", "%s.%zu", kinds[k].name, b.size);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    bench_start(argc, argv);
    bench.batch_ns *= 2;
    b.pe = bench.pes - 1;
    b.symmetric = bench_need(shmem_malloc(LARGEST));
    b.from = bench_need(aligned_alloc(4096, LARGEST));
    b.to = bench_need(aligned_alloc(4096, LARGEST));
    memset(b.symmetric, 1, LARGEST);
    memset(b.from, 2, LARGEST);
    memset(b.to, 3, LARGEST);
    void *there = shmem_ptr(b.symmetric, b.pe);
    b.direct = there ? there : b.symmetric;
    shmem_barrier_all();
    if (bench.me == 0)
        for (b.size = 4096; b.size <= LARGEST; b.size *= 4)
            measure();
    bench_print("bandwidth");
    shmem_barrier_all();
    shmem_free(b.symmetric);
    free(b.from);
    free(b.to);
    shmem_finalize();
    return 0;
}
