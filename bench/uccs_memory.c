/* Memory, locks and accumulates of uccs.h, by PE 0 on the memory of PE 1.
 *
 *   lock.shared, lock.exclusive       enters a free lock and leaves it, ns
 *   contended.shared, .exclusive      the same while PE 1 does so too
 *   lock.bare                         two atomic additions to that memory, the least that a lock costs
 *   put.8.dynamic, put.8.allocated    a put and a flush into dynamic and allocated memory, ns; also with 4096 bytes
 *   allocate                          allocates and releases 256 MB, ns
 *   doubles, doubles.fetched          an accumulate of 1,000 doubles, without and with the old values; doubles.contended: both PEs do it
 *   doubles.plain                     a plain loop over them under one lock
 *   integer, integer.bare             an addition to an integer that returns the old value, and the bare instruction
 *
 * Under LATERAL_NODE_SIZE=1 the same is measured between nodes, without lock.bare, doubles.plain and integer.bare. */
#include "bench.h"
#include "uccs_share.h"

#include <stdbool.h>

enum { BYTES = 1 << 16, LARGE = 256 << 20, KINDS = 10, N = 1000, LOCK = 8192, INTEGER = 8320, DOUBLES = 12288 };

static uccs_context_t context;
static uccs_endpoint_t one;
static uccs_memory_t there, dynamic_there;
static uint64_t address; /* of PE 1's memory, at PE 1 */
static uint64_t *mapped; /* the same here; null between nodes */
static char source[4096];
static double ones[N], old[N];

static void open_all(void)
{
    struct uccs_memory_attr attr;
    uccs_memory_t own, dynamic;
    context = bench_context();
    bench_ok(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 1, &one));
    bench_ok(uccs_memory_allocate(0, BYTES, &own));
    bench_ok(uccs_memory_dynamic(0, &dynamic));
    bench_ok(uccs_memory_query(own, &attr));
    bench_ok(uccs_memory_attach(dynamic, attr.address, BYTES));
    address = (uintptr_t)attr.address;
    bench_ok(uccs_broadcast(UCCS_GROUP_WORLD, &address, sizeof address, 1));
    there = bench_share(own, 1);
    dynamic_there = bench_share(dynamic, 1);
    bench_ok(uccs_memory_query(there, &attr));
    mapped = attr.address;
}

struct lock {
    enum uccs_lock_mode mode;
    bool both; /* PE 1 too */
};

static void lock_loop(long n, void *argument)
{
    const struct lock *lock = argument;
    for (long i = 0; i < n && (bench.me == 0 || lock->both); i++) {
        uccs_lock(one, there, 0, lock->mode);
        uccs_unlock(one, there, 0, lock->mode);
    }
}

static void bare_loop(long n, void *argument)
{
    (void)argument;
    for (long i = 0; i < n && bench.me == 0; i++) {
        __atomic_fetch_add(mapped + 512, 1, __ATOMIC_ACQ_REL);
        __atomic_fetch_add(mapped + 512, 1, __ATOMIC_ACQ_REL);
    }
}

struct put {
    uccs_memory_t *memory;
    size_t bytes;
};

static void put_loop(long n, void *argument)
{
    const struct put *put = argument;
    const size_t at = 4096 + (put->memory == &dynamic_there ? address : 0);
    for (long i = 0; i < n && bench.me == 0; i++) {
        uccs_put_medium_contiguous(context, one, *put->memory, at, source, put->bytes, 0);
        uccs_flush(context);
    }
}

static void allocate_loop(long n, void *argument)
{
    uccs_memory_t memory;
    (void)argument;
    for (long i = 0; i < n && bench.me == 0; i++) {
        bench_ok(uccs_memory_allocate(0, LARGE, &memory));
        bench_ok(uccs_memory_release(memory));
    }
}

static void do_array(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        uccs_accumulate(one, there, DOUBLES, ones, 0, N, UCCS_DOUBLE, UCCS_SUM, 0);
    uccs_flush(context);
}

static void do_fetched_array(long n, void *arg)
{
    (void)arg;
    for (long i = 0; i < n; i++)
        uccs_accumulate(one, there, DOUBLES, ones, old, N, UCCS_DOUBLE, UCCS_SUM, 0);
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3"))) /* a vector loop, as clang makes at -O2 */
#endif
static void
do_plain_array(long n, void *arg)
{
    double *restrict to = (double *)((char *)mapped + DOUBLES);
    const double *restrict from = ones;
    uint32_t *lock = (uint32_t *)((char *)mapped + LOCK);
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
    int64_t add = 1, before;
    (void)arg;
    for (long i = 0; i < n; i++)
        uccs_accumulate(one, there, INTEGER, &add, &before, 1, UCCS_INT64, UCCS_SUM, 0);
}

static void do_bare_integer(long n, void *arg)
{
    int64_t *word = (int64_t *)((char *)mapped + INTEGER), sum = 0;
    for (long i = 0; i < n; i++)
        sum += __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
    *(int64_t *)arg = sum;
}

static void measure_accumulates(void)
{
    const int kinds = mapped ? 2 : 1;
    int64_t sum;
    if (bench.me == 0) {
        bench_kinds((const struct bench_kind[]){{"doubles", do_array, 0}, {"doubles.plain", do_plain_array, 0}}, kinds,
                    BENCH_ALONE, 1, 0);
        bench_kinds((const struct bench_kind[]){{"integer", do_integer, 0}, {"integer.bare", do_bare_integer, &sum}},
                    kinds, BENCH_ALONE, 1, 0);
        bench_kinds(&(struct bench_kind){"doubles.fetched", do_fetched_array, 0}, 1, BENCH_ALONE, 1, 0);
    }
    bench_kinds(&(struct bench_kind){"doubles.contended", do_array, 0}, 1, BENCH_TOGETHER, 1, 0);
}

int main(int argc, char **argv)
{
    static struct lock locks[] = {{UCCS_LOCK_SHARED, false},
                                  {UCCS_LOCK_EXCLUSIVE, false},
                                  {UCCS_LOCK_SHARED, true},
                                  {UCCS_LOCK_EXCLUSIVE, true}};
    static struct put puts[] = {{&dynamic_there, 8}, {&there, 8}, {&dynamic_there, 4096}, {&there, 4096}};
    const struct bench_kind kinds[] = {{"lock.shared", lock_loop, &locks[0]},
                                       {"lock.exclusive", lock_loop, &locks[1]},
                                       {"contended.shared", lock_loop, &locks[2]},
                                       {"contended.exclusive", lock_loop, &locks[3]},
                                       {"put.8.dynamic", put_loop, &puts[0]},
                                       {"put.8.allocated", put_loop, &puts[1]},
                                       {"put.4096.dynamic", put_loop, &puts[2]},
                                       {"put.4096.allocated", put_loop, &puts[3]},
                                       {"allocate", allocate_loop, 0},
                                       {"lock.bare", bare_loop, 0}}; /* the last one: left out between nodes */
    bench_open(argc, argv);
    if (bench.pes != 2)
        return fprintf(stderr, "uccs_memory needs 2 PEs\n"), 1;
    open_all();
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    bench_kinds(kinds, mapped ? KINDS : KINDS - 1, BENCH_TOGETHER, 1, 0);
    measure_accumulates();
    return bench_end("uccs_memory", 0);
}
