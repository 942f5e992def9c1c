/* What tasks cost on the dataflow runtime of examples/dataflow, and what of it is the runtime's.
 *
 *   tasks    tasks a second of one process: ready ones without inputs, whose kernel does nothing
 *   hop      nanoseconds from task to task of a chain whose tasks lie on two processes in turn, with outputs of 8 bytes
 *
 *   oshcc -O2 -I../examples dataflow.c -o dataflow && oshrun -n 2 ./dataflow [--quick]
 *   mpicc -O2 -I../examples dataflow.c -o dataflow_mpi && mpirun -n 2 ./dataflow_mpi [--quick]
 *
 * The second one has MPI's messages in place of uccs.h's, and is the same program else. Each number is the best of several. */
#if __has_include(<uccs.h>)
#include "dataflow/net_uccs.h"
#else
#define DATAFLOW_MPI
#include "net_mpi.h"
#endif
#include "dataflow/runtime.h"

#include <math.h>

#include "common.h"

enum { ROUNDS = 8 };

static long tasks = 20000;

static void nothing(uint64_t key, void *output, const void *const *inputs)
{
    (void)key, (void)output, (void)inputs;
}

static void add_one(uint64_t key, void *output, const void *const *inputs)
{
    *(uint64_t *)output = (key >> 1 ? *(const uint64_t *)inputs[0] : 0) + 1;
}

static const df_kernel kernels[] = {nothing, add_one};

/* Independent tasks have odd keys, by process; those of the chain even ones. */
static int home_of(uint64_t key)
{
    return key & 1 ? (int)(key >> 48) : (int)(key >> 1) % (net_size < 2 ? 1 : 2);
}

static double measure_tasks(void)
{
    df_start(kernels, home_of);
    const double begin = bench_now();
    for (long i = 0; i < tasks; i++)
        df_task(0, (uint64_t)net_me << 48 | (uint64_t)i << 1 | 1, 0, 0, NULL);
    while (!df_round(false))
        ;
    const double ns = bench_now() - begin;
    df_run();
    df_end();
    return (double)tasks / ns;
}

static double measure_hop(void)
{
    df_start(kernels, home_of);
    for (long i = 0; i < tasks; i++)
        df_task(1, (uint64_t)i << 1, sizeof(uint64_t), i > 0, &(uint64_t){(uint64_t)(i - 1) << 1});
    net_leave();
    while (!net_all_left())
        net_progress();
    const double begin = bench_now();
    df_run();
    const double ns = bench_now() - begin;
    const uint64_t *last = df_value((uint64_t)(tasks - 1) << 1);
    if (home_of((uint64_t)(tasks - 1) << 1) == net_me && *last != (uint64_t)tasks) {
        fprintf(stderr, "dataflow: the chain ends with %llu, not %ld\n", (unsigned long long)*last, tasks);
        abort();
    }
    df_end();
    return ns / (double)tasks;
}

int main(int argc, char **argv)
{
    const int rounds = bench_has(argc, argv, "--quick") ? 2 : ROUNDS;
#ifdef DATAFLOW_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &net_me);
#else
    net_check(uccs_init(), "uccs_init");
    net_me = uccs_group_rank(UCCS_GROUP_WORLD);
#endif
    double rate = 0, hop = 1e18;
    for (int round = 0; round < rounds; round++) {
        rate = fmax(rate, measure_tasks());
        hop = fmin(hop, measure_hop());
    }
    bench_silent = net_me != 0;
    bench_result(1e3 * rate, "M/s", "tasks");
    bench_result(hop, "ns", "hop");
    bench_results_end();
#ifdef DATAFLOW_MPI
    MPI_Finalize();
#else
    net_check(uccs_finalize(), "uccs_finalize");
#endif
    return 0;
}
