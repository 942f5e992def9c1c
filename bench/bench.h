/* Common parts of the OpenSHMEM programs: batches, medians, results on PE 0.
 *
 * Plain OpenSHMEM 1.4, so that every implementation's oshcc compiles it. BENCH_15 says that signals and teams exist; substitutes.h has
 * what programs do without signals, requests and counters.
 * Include it once, in the program's only source file; it is for one thread. A measured operation is a function that
 * does it n times, so the compiler sees loop and call together, as in a program. A batch lasts long enough for the
 * clock but far shorter than a time slice, so on a busy machine most batches are undisturbed. The result is the median
 * over batches. If PEs outnumber cores, the benchmark measures their turns too, and batches are longer than a time
 * slice. */
#ifndef BENCH_H
#define BENCH_H
#include <shmem.h>
#include <stdint.h>

#include "common.h"

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define BENCH_15 1
#else
#define BENCH_15 0
#endif

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

enum { BENCH_MOST_BATCHES = 101, BENCH_MOST_KINDS = 14 };

typedef void bench_loop(long n, void *arg);

static struct bench {
    int me, pes, crowded, quick, batches; /* crowded: more PEs than cores */
    double batch_ns;
} bench;
static long bench_agreed; /* symmetric; PE 0 writes it on every PE */

/* Call after shmem_init. --quick makes batches fewer and shorter. */
static inline void bench_start(int argc, char **argv)
{
    const int quick = bench.quick = bench_has(argc, argv, "--quick");
    bench.me = shmem_my_pe();
    bench_silent = bench.me != 0;
    bench.pes = shmem_n_pes();
    bench.crowded = bench.pes > (int)sysconf(_SC_NPROCESSORS_ONLN);
    bench.batches = quick ? 11 : bench.crowded ? 21 : BENCH_MOST_BATCHES;
    bench.batch_ns = !bench.crowded ? 2e5 : quick ? 1e6 : 5e6;
}

static inline void bench_open(int argc, char **argv)
{
    shmem_init();
    bench_start(argc, argv);
}

static inline void *bench_need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "bench: PE %d: out of memory\n", bench.me);
        exit(1);
    }
    return memory;
}

#include "substitutes.h"

static inline double bench_time(bench_loop *loop, long n, void *arg)
{
    double start = bench_now();
    loop(n, arg);
    return bench_now() - start;
}

/* Returns PE 0's number, on all PEs. */
static inline long bench_agree(long n)
{
    shmem_barrier_all();
    if (bench.me == 0)
        for (int pe = 0; pe < bench.pes; pe++)
            shmem_long_p(&bench_agreed, n, pe);
    shmem_barrier_all();
    return bench_agreed;
}

struct bench_kind {
    const char *name;
    bench_loop *loop;
    void *arg;
};

enum {
    BENCH_ALONE,
    BENCH_TOGETHER
}; /* this PE works alone; all PEs call this and work at the same time, and PE 0's time counts */

/* Returns the number of repetitions that fill a batch. Of each step the second run counts: the first operation between hosts takes as
 * long as many later ones. */
static inline long bench_calibrate(const struct bench_kind *kind, int together)
{
    long n = 1;
    for (double took = 0; took < bench.batch_ns / 2;) {
        (void)bench_time(kind->loop, n, kind->arg);
        if (together)
            shmem_barrier_all();
        took = bench_time(kind->loop, n, kind->arg);
        n = took < bench.batch_ns / 16 ? n * 4 : (long)((double)n * bench.batch_ns / took) + 1;
        if (together) {
            n = bench_agree(n);
            took = (double)bench_agree((long)took);
        }
    }
    return n;
}

/* Fills ns[] with the nanoseconds per operation of each kind. The kinds take turns batch by batch, so that a slow moment of the
 * machine hits all of them. */
static inline void bench_rounds(const struct bench_kind *kinds, int count, double *ns, int together)
{
    double each[BENCH_MOST_KINDS][BENCH_MOST_BATCHES];
    long n[BENCH_MOST_KINDS];
    for (int k = 0; k < count; k++)
        n[k] = bench_calibrate(&kinds[k], together);
    for (int i = 0; i < bench.batches; i++)
        for (int k = 0; k < count; k++) {
            if (together)
                shmem_barrier_all();
            each[k][i] = bench_time(kinds[k].loop, n[k], kinds[k].arg) / (double)n[k];
        }
    for (int k = 0; k < count; k++)
        ns[k] = bench_median(each[k], bench.batches);
}

/* Measures the kinds and keeps the nanoseconds of each under its name, with the size behind a point unless it is 0. `part`: what one
 * pass of a loop is of an operation. */
static inline void bench_kinds(const struct bench_kind *kinds, int count, int together, double part, size_t size)
{
    double ns[BENCH_MOST_KINDS];
    char behind[24] = "";
    if (size)
        snprintf(behind, sizeof behind, ".%zu", size);
    bench_rounds(kinds, count, ns, together);
    for (int k = 0; k < count; k++)
        bench_result(ns[k] * part, "ns", "%s%s", kinds[k].name, behind);
}

static long bench_wrong_pes;     /* symmetric */
static int (*bench_close)(void); /* ends another library before OpenSHMEM; null: there is none */

/* Collective. Ends the document where the results of all PEs were right, and the library. Returns the exit status, on every PE. */
static inline int bench_end(const char *program, long wrong)
{
    shmem_barrier_all();
    for (int pe = 0; wrong && pe < bench.pes; pe++)
        shmem_long_atomic_inc(&bench_wrong_pes, pe);
    shmem_barrier_all();
    const long pes = bench_wrong_pes;
    if (pes && bench.me == 0)
        fprintf(stderr, "%s: wrong results on %ld PEs\n", program, pes);
    else
        bench_results_end();
    shmem_barrier_all();
    if (bench_close)
        bench_close();
    shmem_finalize();
    return pes != 0;
}
#endif
