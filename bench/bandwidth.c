/* Measures how fast put and get are, 4 KiB to 16 MiB, against memcpy of the same sizes in the same process.
 *
 * 2 PEs: PE 0 moves, PE 1 waits. `memcpy` copies between the same two places as put, `memcpy.from` as get (the peer's
 * memory by shmem_ptr, else an own symmetric buffer). Kinds take turns batch by batch, so that a slow moment hits all of them. */
#include "bench.h"

enum { LARGEST = 16 << 20, KINDS = 4 };

static size_t size;
static int pe;

struct ends {
    char *to, *from;
};

static void do_memcpy(long n, void *arg)
{
    const struct ends *ends = arg;
    for (long i = 0; i < n; i++) {
        memcpy(ends->to, ends->from, size);
        __asm__ volatile("" ::: "memory"); /* keeps the compiler from dropping a copy */
    }
}

static void do_put(long n, void *arg)
{
    const struct ends *ends = arg;
    for (long i = 0; i < n; i++)
        shmem_putmem(ends->to, ends->from, size, pe);
    shmem_quiet();
}

static void do_get(long n, void *arg)
{
    const struct ends *ends = arg;
    for (long i = 0; i < n; i++)
        shmem_getmem(ends->to, ends->from, size, pe);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    bench.batch_ns *= 2;
    pe = bench.pes - 1;
    char *symmetric = bench_need(shmem_malloc(LARGEST)), *direct = shmem_ptr(symmetric, pe);
    char *from = bench_need(aligned_alloc(4096, LARGEST)), *to = bench_need(aligned_alloc(4096, LARGEST));
    direct = direct ? direct : symmetric;
    memset(symmetric, 1, LARGEST);
    memset(from, 2, LARGEST);
    memset(to, 3, LARGEST);
    const struct bench_kind kinds[KINDS] = {{"memcpy", do_memcpy, &(struct ends){direct, from}},
                                            {"put", do_put, &(struct ends){symmetric, from}},
                                            {"memcpy.from", do_memcpy, &(struct ends){to, direct}},
                                            {"get", do_get, &(struct ends){to, symmetric}}};
    double ns[KINDS];
    shmem_barrier_all();
    for (size = 4096; size <= LARGEST && bench.me == 0; size *= 4) {
        bench_rounds(kinds, KINDS, ns, BENCH_ALONE);
        for (int k = 0; k < KINDS; k++)
            bench_result((double)size / ns[k], "GB/s", "%s.%zu", kinds[k].name, size);
    }
    return bench_end("bandwidth", 0);
}
