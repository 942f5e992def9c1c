/* Common parts of the seeds' experiments beside bench.h: whether requests and counters exist, and turns of one PE. */
#ifndef BENCH_EXTENSION_H
#define BENCH_EXTENSION_H
#include "bench.h"

#if defined __has_include
#if __has_include(<shmemx.h>)
#include <shmemx.h>
#endif
#endif

#ifdef SHMEMX_REQUEST_NULL
#define BENCH_REQUESTS 1 /* requests and counters exist */
#else
#define BENCH_REQUESTS 0
#endif

/* Fills ns[] with the nanoseconds per operation when this PE works alone. The kinds take turns batch by batch. */
static inline void bench_alone(const struct bench_kind *kinds, int count, double *ns)
{
    double each[BENCH_MOST_KINDS][BENCH_MOST_BATCHES];
    long n[BENCH_MOST_KINDS];
    for (int k = 0; k < count; k++)
        n[k] = bench_calibrate(kinds[k].loop, kinds[k].arg);
    for (int i = 0; i < bench.batches; i++)
        for (int k = 0; k < count; k++)
            each[k][i] = bench_time(kinds[k].loop, n[k], kinds[k].arg) / (double)n[k];
    for (int k = 0; k < count; k++)
        ns[k] = bench_median(each[k], bench.batches);
}

static inline void bench_sized_result(const char *name, size_t size, double value, const char *unit)
{
    char full[48];
    snprintf(full, sizeof full, "%s.%zu", name, size);
    bench_result(full, value, unit);
}

/* All PEs tell whether their results were right. Returns the number of PEs with wrong results, on every PE. */
static long bench_wrong_pes; /* symmetric */

static inline long bench_verified(long wrong)
{
    shmem_barrier_all();
    for (int pe = 0; wrong && pe < bench.pes; pe++)
        shmem_long_atomic_inc(&bench_wrong_pes, pe);
    shmem_barrier_all();
    return bench_wrong_pes;
}

static inline int bench_end(const char *program, long wrong)
{
    long pes = bench_verified(wrong);
    if (pes && bench.me == 0)
        fprintf(stderr, "%s: wrong results on %ld PEs\n", program, pes);
    if (!pes)
        bench_print(program);
    shmem_barrier_all();
    shmem_finalize();
    return pes != 0;
}
#endif
