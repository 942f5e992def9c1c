/* Measures how long barrier_all takes, with any number of PEs, also more than cores; with --small also a sum and a broadcast of one
 * long. */
#include "bench.h"

static void do_barrier(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_barrier_all();
}

#if BENCH_15
static long mine, all;

static void do_sum(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
}

/* The root moves on, so that no PE runs ahead. */
static void do_broadcast(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_long_broadcast(SHMEM_TEAM_WORLD, &all, &mine, 1, (int)(i % bench.pes));
}
#endif

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    bench_kinds(&(struct bench_kind){"barrier_all", do_barrier, NULL}, 1, BENCH_TOGETHER, 1, 0);
#if BENCH_15
    const struct bench_kind small[] = {{"sum", do_sum, NULL}, {"broadcast", do_broadcast, NULL}};
    if (bench_has(argc, argv, "--small"))
        bench_kinds(small, 2, BENCH_TOGETHER, 1, 0);
#endif
    return bench_end("barrier", 0);
}
