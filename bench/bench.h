/* Common parts of the benchmark programs: a clock, batches, medians, one JSON document on PE 0.
 *
 * Plain OpenSHMEM 1.4, so that every implementation's oshcc compiles it. BENCH_15 says that signals and teams exist.
 * Include it once, in the program's only source file; it is for one thread. A measured operation is a function that
 * does it n times, so the compiler sees loop and call together, as in a program. A batch lasts long enough for the
 * clock but far shorter than a time slice, so on a busy machine most batches are undisturbed. The result is the median
 * over batches. If PEs outnumber cores, the benchmark measures their turns too, and batches are longer than a time
 * slice. */
#ifndef BENCH_H
#define BENCH_H
#include <shmem.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

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
    int me, pes, crowded, quick, batches, results; /* crowded: more PEs than cores */
    double batch_ns;
} bench;
static long bench_agreed; /* symmetric; PE 0 writes it on every PE */

/* Call after shmem_init. --quick makes batches fewer and shorter. */
static inline void bench_start(int argc, char **argv)
{
    int quick = 0;
    for (int i = 1; i < argc; i++)
        quick |= strcmp(argv[i], "--quick") == 0;
    bench.quick = quick;
    bench.me = shmem_my_pe();
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

/* Prints a value under a name of the row's key, on PE 0 alone, as soon as it is there: what comes later may fail. */
static inline void bench_result(double value, const char *unit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void bench_result(double value, const char *unit, const char *format, ...)
{
    va_list arguments;
    if (bench.me != 0)
        return;
    if (bench.results++)
        printf(",\n  \"");
    else
        printf("{\"pes\": %d, \"openshmem\": \"%d.%d\", \"results\": {\n  \"", bench.pes, SHMEM_MAJOR_VERSION,
               SHMEM_MINOR_VERSION);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\": [%.6g, \"%s\"]", value, unit);
    fflush(stdout);
}

static inline double bench_time(bench_loop *loop, long n, void *arg)
{
    double start = bench_now();
    loop(n, arg);
    return bench_now() - start;
}

/* Returns the number of repetitions that fill a batch. It grows step by step. Of each step the second run counts: the first
 * operation between hosts takes as long as many later ones. */
static inline long bench_calibrate(bench_loop *loop, void *arg)
{
    long n = 1;
    for (;;) {
        (void)bench_time(loop, n, arg);
        double took = bench_time(loop, n, arg);
        if (took >= bench.batch_ns / 2)
            return (long)((double)n * bench.batch_ns / took) + 1;
        n = took < bench.batch_ns / 16 ? n * 8 : n * 2;
    }
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

/* Returns the number of repetitions that fill a batch when all PEs work together, as PE 0 sees it. Of each step the second run counts. */
static inline long bench_calibrate_together(const struct bench_kind *kind)
{
    long n = 1;
    for (double took = 0; took < bench.batch_ns / 2;) {
        (void)bench_time(kind->loop, n, kind->arg);
        shmem_barrier_all();
        took = bench_time(kind->loop, n, kind->arg);
        long next = took < bench.batch_ns / 16 ? n * 4 : (long)((double)n * bench.batch_ns / took) + 1;
        n = bench_agree(next);
        took = (double)bench_agree((long)took);
    }
    return n;
}

/* Fills ns[] with the nanoseconds per operation of each kind. The kinds take turns batch by batch, so that a slow moment of the
 * machine hits all of them. together: all PEs call this and work at the same time, and PE 0's time counts; else this PE works alone. */
enum { BENCH_ALONE, BENCH_TOGETHER };

static inline void bench_rounds(const struct bench_kind *kinds, int count, double *ns, int together)
{
    double each[BENCH_MOST_KINDS][BENCH_MOST_BATCHES];
    long n[BENCH_MOST_KINDS];
    for (int k = 0; k < count; k++)
        n[k] = together ? bench_calibrate_together(&kinds[k]) : bench_calibrate(kinds[k].loop, kinds[k].arg);
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

/* Hops: the two PEs exchange numbers by plain stores and loads, if shmem_ptr gives the other's memory. Each writes a
 * line that only the other reads. One operation is a round trip. The more often the reader looks, the more it disturbs
 * the writer, and the best rate differs between processors. So there are two loops, and the faster one is the floor. */
struct bench_hop {
    long *here, *there, sent;
};

static inline void bench_hops(long n, struct bench_hop *h, int relax)
{
    for (long i = 0; i < n; i++) {
        long number = ++h->sent;
        if (bench.me == 0)
            __atomic_store_n(h->there, number, __ATOMIC_RELEASE);
        while (__atomic_load_n(h->here, __ATOMIC_ACQUIRE) < number)
            if (relax)
                bench_relax();
        if (bench.me == 1)
            __atomic_store_n(h->there, number, __ATOMIC_RELEASE);
    }
}

static inline void bench_hop_tight(long n, void *arg)
{
    bench_hops(n, arg, 0);
}
static inline void bench_hop_relaxed(long n, void *arg)
{
    bench_hops(n, arg, 1);
}

/* Collective. Returns 1 if hops can be measured (2 PEs that reach each other's memory), else 0. */
static inline int bench_hop_setup(struct bench_hop *h)
{
    h->here = bench_need(shmem_align(128, 128));
    *h->here = h->sent = 0;
    h->there = bench.pes == 2 ? shmem_ptr(h->here, 1 - bench.me) : NULL;
    shmem_barrier_all();
    return h->there != NULL;
}

/* Reports the floor from the last two kinds of a bench_rounds: half the round trip of the faster loop. */
static inline void bench_hop_result(const double *ns)
{
    bench_result((ns[0] < ns[1] ? ns[0] : ns[1]) / 2, "ns", "hop");
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

static int (*bench_close)(void); /* ends another library before OpenSHMEM; null: there is none */

/* Ends the document where all results were right, and the library. Returns the exit status. */
static inline int bench_end(const char *program, long wrong)
{
    long pes = bench_verified(wrong);
    if (pes && bench.me == 0)
        fprintf(stderr, "%s: wrong results on %ld PEs\n", program, pes);
    else if (bench.me == 0)
        printf("\n}}\n"), fflush(stdout);
    shmem_barrier_all();
    if (bench_close)
        bench_close();
    shmem_finalize();
    return pes != 0;
}
#endif
