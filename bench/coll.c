/* Measures how long collectives take: broadcast, reduce, fcollect, collect, alltoall at 8 B, 64 KiB and 4 MiB.
 *
 * The size is one PE's contribution (alltoall at 8 B: one long for every peer). Called are the team forms where there is OpenSHMEM 1.5,
 * else those of active sets; the broadcast is always that of active sets, because the team form also fills the root's dest. Its root moves
 * on with every call, so that no PE runs ahead. The floor of large sizes is the memory traffic at memcpy's speed: all PEs at once copy that
 * size from the next PE's memory (from their own if shmem_ptr gives none). A collective takes at least as many such copies as it has to
 * move: broadcast PEs - 1, reduce and alltoall PEs, fcollect PEs * PEs. */
#include "bench.h"

enum { LARGEST = 4 << 20, SYNCS = 8 };

static struct {
    long *source, *dest;
    char *neighbour, *own;
    size_t size, count;
} c;

/* Returns the number of elements that go to each peer in alltoall. */
static size_t block(void)
{
    return c.count < (size_t)bench.pes ? 1 : c.count / (size_t)bench.pes;
}

/* A function for each collective: the team form and the one of active sets. */
#if BENCH_15
#define COLLECTIVE(name, team, set) \
    static void name(long i)        \
    {                               \
        (void)i;                    \
        team;                       \
    }
#else
static long reduce_work[2][LARGEST / sizeof(long) / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
#define COLLECTIVE(name, team, set) \
    static void name(long i)        \
    {                               \
        set;                        \
    }
#endif

/* Active sets take turns among several pSync arrays; no PE can be more than one call per PE ahead. */
static long sync_work[SYNCS][SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE +
                             SHMEM_BCAST_SYNC_SIZE];

static void setup_sets(void)
{
    for (size_t i = 0; i < SYNCS; i++)
        for (size_t k = 0; k < sizeof sync_work[0] / sizeof(long); k++)
            sync_work[i][k] = SHMEM_SYNC_VALUE;
}

static void broadcast(long i)
{
    shmem_broadcast64(c.dest, c.source, c.count, (int)(i % bench.pes), 0, 0, bench.pes, sync_work[i % SYNCS]);
}

COLLECTIVE(reduce, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, c.dest, c.source, c.count),
           shmem_long_sum_to_all(c.dest, c.source, (int)c.count, 0, 0, bench.pes, reduce_work[i % 2],
                                 sync_work[i % SYNCS]))
COLLECTIVE(fcollect, shmem_long_fcollect(SHMEM_TEAM_WORLD, c.dest, c.source, c.count),
           shmem_fcollect64(c.dest, c.source, c.count, 0, 0, bench.pes, sync_work[i % SYNCS]))
COLLECTIVE(collect, shmem_long_collect(SHMEM_TEAM_WORLD, c.dest, c.source, c.count),
           shmem_collect64(c.dest, c.source, c.count, 0, 0, bench.pes, sync_work[i % SYNCS]))
COLLECTIVE(alltoall, shmem_long_alltoall(SHMEM_TEAM_WORLD, c.dest, c.source, block()),
           shmem_alltoall64(c.dest, c.source, block(), 0, 0, bench.pes, sync_work[i % SYNCS]))

static const struct {
    const char *name;
    void (*call)(long);
} kinds[] = {{"broadcast", broadcast},
             {"reduce", reduce},
             {"fcollect", fcollect},
             {"collect", collect},
             {"alltoall", alltoall}};

static long calls; /* so far, the same on all PEs; pSync arrays and roots go on from batch to batch */

static void loop(long n, void *arg)
{
    void (*call)(long) = *(void (**)(long))arg;
    for (long i = 0; i < n; i++)
        call(calls++);
}

/* All PEs copy at once. Batches are long, because nothing keeps the PEs in step. */
static double copy_time(void)
{
    double each[BENCH_MOST_BATCHES];
    for (int i = -1; i < bench.batches; i++) {
        long n = (long)((bench.crowded ? 16 : 2) * LARGEST / c.size);
        shmem_barrier_all();
        double start = bench_now();
        for (long k = 0; k < n; k++) {
            memcpy(c.own, c.neighbour, c.size);
            __asm__ volatile("" ::: "memory"); /* keeps the compiler from dropping a copy */
        }
        shmem_barrier_all();
        if (i >= 0)
            each[i] = (bench_now() - start) / (double)n;
    }
    return bench_median(each, bench.batches);
}

static void floors(double copy)
{
    const struct {
        const char *name;
        double copies;
    } need[] = {{"broadcast", bench.pes - 1},
                {"reduce", bench.pes},
                {"fcollect", (double)bench.pes * bench.pes},
                {"alltoall", bench.pes}};
    for (size_t i = 0; i < sizeof need / sizeof need[0]; i++) /* `copy` moved one per PE */
        bench_result(copy * need[i].copies / bench.pes, "ns", "%s.%zu.floor", need[i].name, c.size);
}

static void measure(size_t size)
{
    c.size = size;
    c.count = size / sizeof(long);
    if (size > 4096)
        floors(copy_time());
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        bench_kinds(&(struct bench_kind){kinds[i].name, loop, (void *)&kinds[i].call}, 1, BENCH_TOGETHER, 1, size);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    setup_sets();
    c.source = bench_need(shmem_calloc(1, LARGEST));
    c.dest = bench_need(shmem_calloc((size_t)bench.pes, LARGEST));
    char *there = shmem_ptr(c.source, (bench.me + 1) % bench.pes);
    c.neighbour = there ? there : (char *)c.source;
    c.own = (char *)c.dest;
    shmem_barrier_all();
    for (size_t size = sizeof(long); size <= LARGEST; size = size == sizeof(long) ? 64 << 10 : size * 64)
        measure(size);
    return bench_end("coll", 0);
}
