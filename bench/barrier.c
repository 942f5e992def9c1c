/* Measures how long barrier_all and sync_all take, with any number of PEs, also more than cores; with --small also a sum
 * and a broadcast of one long. With 2 PEs it also measures `hop`, half a round trip of plain stores, in the same run. */
#include "bench.h"

static void do_barrier(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_barrier_all();
}

static void do_sync(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        shmem_sync_all();
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
    struct bench_hop hop;
    double ns[4];
    bench_open(argc, argv);
    const struct bench_kind kinds[] = {{"barrier_all", do_barrier, NULL},
                                       {"sync_all", do_sync, NULL},
                                       {"hop", bench_hop_tight, &hop},
                                       {"hop", bench_hop_relaxed, &hop}};
    int hops = bench_hop_setup(&hop);
    bench_rounds(kinds, hops ? 4 : 2, ns, BENCH_TOGETHER);
#if BENCH_15
    const struct bench_kind small[] = {{"sum", do_sum, NULL}, {"broadcast", do_broadcast, NULL}};
    if (argc > 1 && strcmp(argv[1], "--small") == 0)
        bench_kinds(small, 2, BENCH_TOGETHER, 1, 0);
#endif
    for (int k = 0; k < 2; k++)
        bench_result(ns[k], "ns", "%s", kinds[k].name);
    if (hops)
        bench_hop_result(ns + 2);
    return bench_end("barrier", 0);
}
