/* Measures p, g, put and get of one element, and atomics, on the heap and on a global variable, and the same access
 * through a one-line function of another shared library (the floor).
 *
 * 2 PEs: PE 0 works on PE 1's memory, PE 1 waits. The floor uses the very same address if shmem_ptr gives one, else
 * memory of its own. One quiet per batch completes all open operations. */
#include "bench.h"
#include "floor.h"

static long global; /* symmetric */

struct target {
    long *symmetric, *direct; /* for the library under test, and for the floor */
    int pe;
    long local, sink;
};

/* What is measured: X(name, access of x at PE pe, the same of d by the floor library). */
#define ACCESSES(X)                                                                                 \
    X(p, shmem_long_p(x, i, pe), floor_store(d, i))                                                 \
    X(g, sum += shmem_long_g(x, pe), sum += floor_load(d))                                          \
    X(put1, shmem_long_put(x, &t->local, 1, pe), floor_copy(d, &t->local))                          \
    X(get1, shmem_long_get(&t->local, x, 1, pe), floor_copy(&t->local, d))                          \
    X(put_quiet, (shmem_long_put(x, &t->local, 1, pe), shmem_quiet()), floor_copy(d, &t->local))    \
    X(atomic_add, shmem_long_atomic_add(x, 1, pe), floor_add(d, 1))                                 \
    X(atomic_fetch_add, sum += shmem_long_atomic_fetch_add(x, 1, pe), sum += floor_fetch_add(d, 1)) \
    X(atomic_compare_swap, sum += shmem_long_atomic_compare_swap(x, i, i + 1, pe),                  \
      sum += floor_compare_swap(d, i, i + 1))

#define LOOP(name, access)                      \
    static void name(long n, void *arg)         \
    {                                           \
        struct target *t = arg;                 \
        long *x = t->symmetric, *d = t->direct; \
        long sum = 0;                           \
        int pe = t->pe;                         \
        for (long i = 0; i < n; i++)            \
            access;                             \
        shmem_quiet();                          \
        t->sink = sum;                          \
        (void)x, (void)d, (void)pe;             \
    }
#define LOOPS(name, access, floor) LOOP(do_##name, access) LOOP(floor_do_##name, floor)
ACCESSES(LOOPS)

#define ROW(name, access, floor) {#name, do_##name, floor_do_##name},
static const struct {
    const char *name;
    bench_loop *loop, *floor;
} accesses[] = {ACCESSES(ROW)};

static void measure(const char *region, struct target *t)
{
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        char names[2][48];
        snprintf(names[0], sizeof names[0], "%s.%s", region, accesses[i].name);
        snprintf(names[1], sizeof names[1], "%s.%s.floor", region, accesses[i].name);
        bench_kinds((const struct bench_kind[]){{names[0], accesses[i].loop, t}, {names[1], accesses[i].floor, t}}, 2,
                    BENCH_ALONE, 1, 0);
    }
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    long *heap = bench_need(shmem_malloc(64)), *own = bench_need(calloc(8, sizeof *own));
    int pe = bench.pes - 1;
    shmem_barrier_all();
    long *heap_there = shmem_ptr(heap, pe), *global_there = shmem_ptr(&global, pe);
    if (bench.me == 0) {
        struct target on_heap = {.symmetric = heap, .direct = heap_there ? heap_there : own, .pe = pe};
        struct target on_global = {.symmetric = &global, .direct = global_there ? global_there : own, .pe = pe};
        measure("heap", &on_heap);
        if (!bench.crowded)
            measure("global", &on_global);
    }
    return bench_end("latency", 0);
}
