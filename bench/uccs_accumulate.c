/* Measures accumulates of uccs.h: 1,000 doubles added against a plain loop under one lock on the same memory, and one
 * integer fetched and added against the bare instruction. PE 0 works on the last PE's memory, uncontended; then all do. */
#include "bench.h"
#include "uccs_share.h"

enum { N = 1000, LOCK = 64, INTEGER = 128, DOUBLES = 4096, BYTES = 16384 };

static uccs_context_t context;
static uccs_endpoint_t endpoint;
static uccs_memory_t memory;
static double ones[N], old[N], here[N];
static char *direct; /* null: on another node */

static void do_array(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        uccs_accumulate(endpoint, memory, DOUBLES, ones, 0, N, UCCS_DOUBLE, UCCS_SUM, 0);
    uccs_flush(context);
}

static void do_fetched_array(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        uccs_accumulate(endpoint, memory, DOUBLES, ones, old, N, UCCS_DOUBLE, UCCS_SUM, 0);
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3"))) /* a vector loop, as clang makes at -O2 */
#endif
static void
do_plain_array(long n, void *arg)
{
    double *restrict to = (double *)(direct + DOUBLES);
    const double *restrict from = ones;
    uint32_t *lock = (uint32_t *)(direct + LOCK);
    (void)arg;
    for (long i = 0; i < n; i++) {
        while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
            while (__atomic_load_n(lock, __ATOMIC_RELAXED))
                ;
        for (int k = 0; k < N; k++)
            to[k] += from[k];
        __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    }
}

static void do_integer(long n, void *arg)
{
    int64_t one = 1, before;
    (void)arg;
    for (long i = 0; i < n; i++)
        uccs_accumulate(endpoint, memory, INTEGER, &one, &before, 1, UCCS_INT64, UCCS_SUM, 0);
}

static void do_bare_integer(long n, void *arg)
{
    int64_t *word = (int64_t *)(direct + INTEGER), sum = 0;
    for (long i = 0; i < n; i++)
        sum += __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
    *(int64_t *)arg = sum;
}

static void open_memory(void)
{
    uccs_memory_t own;
    struct uccs_memory_attr attr;
    bench_ok(uccs_memory_allocate(context, BYTES, &own));
    memory = bench_share(own, bench.pes - 1);
    bench_ok(uccs_endpoint_create(context, UCCS_GROUP_WORLD, bench.pes - 1, &endpoint));
    bench_ok(uccs_memory_query(memory, &attr));
    direct = attr.address;
}

int main(int argc, char **argv)
{
    double sum;
    bench_open(argc, argv);
    context = bench_context();
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    open_memory();
    if (bench.me == 0) {
        const int kinds = direct ? 2 : 1;
        bench_kinds((const struct bench_kind[]){{"doubles", do_array, &sum}, {"doubles.plain", do_plain_array, &sum}},
                    kinds, BENCH_ALONE, 1, 0);
        bench_kinds((const struct bench_kind[]){{"integer", do_integer, &sum}, {"integer.bare", do_bare_integer, &sum}},
                    kinds, BENCH_ALONE, 1, 0);
        bench_kinds(&(struct bench_kind){"doubles.fetched", do_fetched_array, here}, 1, BENCH_ALONE, 1, 0);
    }
    bench_kinds(&(struct bench_kind){"doubles.contended", do_array, &sum}, 1, BENCH_TOGETHER, 1, 0);
    return bench_end("uccs_accumulate", 0);
}
