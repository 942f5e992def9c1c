/* Measures puts and gets of one element at random places of a large heap, where the processor's translation of addresses
 * costs more than the access. Huge pages change it (docs/guide/tuning.md).
 *
 *   first_visit   a get of each page of 4 KiB in turn, which this process has not touched there before
 *   p, g          at random places, once all pages have been visited
 *
 *   scattered [MIB]   MiB of each PE's memory; default 1024. SHMEM_SYMMETRIC_SIZE must hold them. */
#include "bench.h"

struct table {
    long *words, mask;
    unsigned long place;
    long sum;
};

static long next_place(struct table *t)
{
    t->place = t->place * 6364136223846793005UL + 1442695040888963407UL;
    return (long)(t->place >> 20) & t->mask;
}

static int other(void)
{
    return (bench.me + 1) % bench.pes;
}

static void do_p(long n, void *table)
{
    for (long i = 0; i < n; i++)
        shmem_long_p(&((struct table *)table)->words[next_place(table)], i, other());
    shmem_quiet();
}

static void do_g(long n, void *table)
{
    for (long i = 0; i < n; i++)
        ((struct table *)table)->sum += shmem_long_g(&((struct table *)table)->words[next_place(table)], other());
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    long mib = argc > 1 && argv[1][0] != '-' ? atol(argv[1]) : 1024, words = 1;
    while (2 * words <= mib << 17)
        words *= 2;
    struct table table = {.words = bench_need(shmem_malloc((size_t)words * sizeof(long))), .mask = words - 1};
    memset(table.words, 0, (size_t)words * sizeof(long)); /* each PE touches its own memory first */
    shmem_barrier_all();
    double start = bench_now();
    for (long i = 0; i < words; i += 512)
        table.sum += shmem_long_g(&table.words[i], other());
    double visit = (bench_now() - start) / (double)(words / 512);
    shmem_barrier_all();
    bench_result(visit, "ns", "first_visit");
    bench_kinds(&(struct bench_kind){"p", do_p, &table}, 1, BENCH_TOGETHER, 1, 0);
    bench_kinds(&(struct bench_kind){"g", do_g, &table}, 1, BENCH_TOGETHER, 1, 0);
    return bench_end("scattered", 0);
}
