/* Measures the resident memory of a PE after init: the largest over the PEs, from /proc/self/status. Shared pages count
 * in every PE that touches them. Measures again after every PE has put to every other. */
#include "bench.h"

static long rss; /* symmetric: bytes */

static long read_rss(void)
{
    char line[128];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kib * 1024;
}

/* Returns the largest value of rss in MiB, at PE 0. */
static double largest(void)
{
    long most = 0;
    shmem_barrier_all();
    for (int pe = 0; bench.me == 0 && pe < bench.pes; pe++) {
        long theirs = shmem_long_g(&rss, pe);
        most = theirs > most ? theirs : most;
    }
    shmem_barrier_all();
    return (double)most / (1 << 20);
}

int main(int argc, char **argv)
{
    shmem_init();
    long after_init = read_rss();
    bench_start(argc, argv);
    rss = after_init;
    bench_result(largest(), "MiB", "after_init");
    for (int pe = 0; pe < bench.pes; pe++)
        shmem_long_p(&bench_agreed, 1, pe);
    shmem_barrier_all();
    rss = read_rss();
    bench_result(largest(), "MiB", "after_use");
    return bench_end("rss", 0);
}
