/* Measures the resident memory of a PE after init: the largest over the PEs. Shared pages count in every PE that touches them. Measures
 * again after every PE has put to every other. */
#include "bench.h"

static double rss; /* symmetric: bytes */

/* Reports the largest value of rss in MiB. */
static void report(const char *name)
{
    double most = 0;
    shmem_barrier_all();
    for (int pe = 0; bench.me == 0 && pe < bench.pes; pe++) {
        const double theirs = shmem_double_g(&rss, pe);
        most = theirs > most ? theirs : most;
    }
    shmem_barrier_all();
    bench_result(most / (1 << 20), "MiB", "%s", name);
}

int main(int argc, char **argv)
{
    shmem_init();
    rss = bench_resident();
    bench_start(argc, argv);
    report("after_init");
    for (int pe = 0; pe < bench.pes; pe++)
        shmem_long_p(&bench_agreed, 1, pe);
    shmem_barrier_all();
    rss = bench_resident();
    report("after_use");
    return bench_end("rss", 0);
}
