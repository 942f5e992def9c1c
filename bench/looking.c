/* What looking costs: processor time of PE 0, in nanoseconds, for calls and for the program's own loads and stores.
 *
 *   p     a shmem_long_p            own      a load or store of symmetric memory
 *   put   a put of 512 bytes        private  of other memory */
#include "bench.h"

enum { CALLS = 200000, PUTS = 50000, BLOCKS = 128, WORDS = 4096, SWEEPS = 500, QUICK = 20 };

static long words[WORDS];
static char blocks[BLOCKS][512], from[512];
static int part = 1; /* of so many, with --quick */

static double now(void)
{
    return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* A load and a store of each word, which stays in memory. */
static double sweep(long *at)
{
    double begin = now();
    for (int round = 0; round < SWEEPS / part; round++)
        for (int i = 0; i < WORDS; i++) {
            at[i] += i;
            __asm__ volatile("" ::: "memory");
        }
    return (now() - begin) / (2.0 * (SWEEPS / part) * WORDS);
}

/* The same word is stored to again, in order. */
static double time_p(void)
{
    double begin = now();
    for (long i = 0; i < CALLS / part; i++) {
        if (i % WORDS == 0)
            shmem_quiet();
        shmem_long_p(&words[i % WORDS], i, 1);
    }
    return (now() - begin) / (CALLS / part);
}

static double time_put(void)
{
    double begin = now();
    for (long i = 0; i < PUTS / part; i++) {
        if (i % BLOCKS == 0)
            shmem_quiet();
        shmem_putmem(blocks[i % BLOCKS], from, sizeof from, 1);
    }
    double took = (now() - begin) / (PUTS / part);
    shmem_quiet();
    return took;
}

int main(int argc, char **argv)
{
    long other[WORDS] = {0};
    bench_open(argc, argv);
    part = bench.quick ? QUICK : 1;
    shmem_barrier_all();
    if (bench.me == 0) {
        bench_result(time_p(), "ns", "p");
        bench_result(time_put(), "ns", "put");
        bench_result(sweep(words), "ns", "own");
        bench_result(sweep(other), "ns", "private");
    }
    return bench_end("looking", 0);
}
