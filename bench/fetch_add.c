/* Measures the cost of atomic_fetch_add over the bare instruction.
 *
 * PE 0 adds to the last PE's variable, uncontended. The bare instruction, compiled into the loop, works on the same
 * address if shmem_ptr gives one. Also measures the contended case: all PEs add at once. */
#include "bench.h"

struct target {
    long *symmetric, *direct, sink;
    int pe;
};

static void do_fetch_add(long n, void *arg)
{
    struct target *t = arg;
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += shmem_long_atomic_fetch_add(t->symmetric, 1, t->pe);
    t->sink = sum;
}

static void do_bare(long n, void *arg)
{
    struct target *t = arg;
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += __atomic_fetch_add(t->direct, 1, __ATOMIC_ACQ_REL);
    t->sink = sum;
}

int main(int argc, char **argv)
{
    shmem_init();
    bench_start(argc, argv);
    long *counter = bench_need(shmem_calloc(8, sizeof *counter));
    int pe = bench.pes - 1;
    long own = 0, *there = shmem_ptr(counter, pe);
    struct target t = {.symmetric = counter, .direct = there ? there : &own, .pe = pe};
    if (bench.me == 0) {
        double library, bare;
        bench_pair(do_fetch_add, do_bare, &t, &library, &bare);
        bench_result("bare", bare, "ns");
        bench_result("fetch_add", library, "ns");
    }
    double contended = bench_together(do_fetch_add, &t);
    bench_result("fetch_add.contended", contended, "ns");
    bench_print("fetch_add");
    shmem_barrier_all();
    shmem_free(counter);
    shmem_finalize();
    return 0;
}
