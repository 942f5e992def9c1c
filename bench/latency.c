/* Measures p, g, put and get of one element, and atomics, on the heap and on a global variable, and the same access
 * through a one-line function of another shared library (the floor).
 *
 * Also fetch_add against `bare`, the instruction compiled into the loop, and fetch_add.contended, by all PEs at once.
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

LOOP(do_p, shmem_long_p(x, i, pe))
LOOP(do_g, sum += shmem_long_g(x, pe))
LOOP(do_put1, shmem_long_put(x, &t->local, 1, pe))
LOOP(do_put_quiet, (shmem_long_put(x, &t->local, 1, pe), shmem_quiet()))
LOOP(do_get1, shmem_long_get(&t->local, x, 1, pe))
LOOP(do_add, shmem_long_atomic_add(x, 1, pe))
LOOP(do_fetch_add, sum += shmem_long_atomic_fetch_add(x, 1, pe))
LOOP(do_swap, sum += shmem_long_atomic_swap(x, i, pe))
LOOP(do_compare_swap, sum += shmem_long_atomic_compare_swap(x, i, i + 1, pe))
LOOP(do_set, shmem_long_atomic_set(x, i, pe))
LOOP(do_fetch, sum += shmem_long_atomic_fetch(x, pe))
LOOP(bare_fetch_add, sum += __atomic_fetch_add(d, 1, __ATOMIC_ACQ_REL))
LOOP(floor_do_p, floor_store(d, i))
LOOP(floor_do_g, sum += floor_load(d))
LOOP(floor_do_put1, floor_copy(d, &t->local))
LOOP(floor_do_get1, floor_copy(&t->local, d))
LOOP(floor_do_add, floor_add(d, 1))
LOOP(floor_do_fetch_add, sum += floor_fetch_add(d, 1))
LOOP(floor_do_swap, sum += floor_swap(d, i))
LOOP(floor_do_compare_swap, sum += floor_compare_swap(d, i, i + 1))
LOOP(floor_do_set, floor_set(d, i))
LOOP(floor_do_fetch, sum += floor_fetch(d))

static const struct {
    const char *name;
    bench_loop *loop, *floor;
} accesses[] = {
    {"p", do_p, floor_do_p},
    {"g", do_g, floor_do_g},
    {"put1", do_put1, floor_do_put1},
    {"get1", do_get1, floor_do_get1},
    {"put_quiet", do_put_quiet, floor_do_put1},
    {"atomic_add", do_add, floor_do_add},
    {"atomic_fetch_add", do_fetch_add, floor_do_fetch_add},
    {"atomic_swap", do_swap, floor_do_swap},
    {"atomic_compare_swap", do_compare_swap, floor_do_compare_swap},
    {"atomic_set", do_set, floor_do_set},
    {"atomic_fetch", do_fetch, floor_do_fetch},
};

/* A fetching add against the bare instruction in the loop, and the same by all PEs at once on one word. */
static void measure_fetch_add(struct target *t)
{
    if (bench.me == 0)
        bench_kinds((const struct bench_kind[]){{"fetch_add", do_fetch_add, t}, {"bare", bare_fetch_add, t}}, 2,
                    BENCH_ALONE, 1, 0);
    bench_kinds(&(struct bench_kind){"fetch_add.contended", do_fetch_add, t}, 1, BENCH_TOGETHER, 1, 0);
}

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
    struct target on_heap = {.symmetric = heap, .direct = heap_there ? heap_there : own, .pe = pe};
    if (bench.me == 0) {
        struct target on_global = {.symmetric = &global, .direct = global_there ? global_there : own, .pe = pe};
        measure("heap", &on_heap);
        if (!bench.crowded)
            measure("global", &on_global);
    }
    measure_fetch_add(&on_heap);
    return bench_end("latency", 0);
}
