/* How long do collectives take: barrier, sync, broadcast, reduce, fcollect, alltoall at 8 B, 64 KiB and 4 MiB?
 *
 * The size is what one PE contributes (alltoall at 8 B: one long for every peer). Team forms where the
 * implementation has OpenSHMEM 1.5, else active sets. The root of the broadcast moves on with every call, so
 * that no PE runs ahead.
 *
 * The floor of large sizes is the memory traffic at memcpy's speed: all PEs at once copy what the collective has
 * to bring to them, from the peers' memory (from their own where shmem_ptr gives none) to the same places:
 * broadcast and reduce one size, fcollect one from every PE, alltoall its share from every PE. A floor and its
 * collective take turns batch by batch; both end a batch with a barrier.
 * Arguments: [--quick] [--only NAME] [--size BYTES] */
#include "bench.h"

enum { LARGEST = 4 << 20, SYNCS = 8 };

static struct {
    long *source, *dest;
    char **peer; /* peer[i]: where PE i's source lies for memcpy */
    size_t size, count;
    const char *only;
    size_t only_size;
} c;

/* What goes to each peer in alltoall. */
static size_t block(void)
{
    return c.count < (size_t)bench.pes ? 1 : c.count / (size_t)bench.pes;
}

#if BENCH_15
static void call_sync(long i)
{
    (void)i;
    shmem_team_sync(SHMEM_TEAM_WORLD);
}
static void call_broadcast(long i)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, c.dest, c.source, c.count, (int)(i % bench.pes));
}
static void call_reduce(long i)
{
    (void)i;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, c.dest, c.source, c.count);
}
static void call_fcollect(long i)
{
    (void)i;
    shmem_long_fcollect(SHMEM_TEAM_WORLD, c.dest, c.source, c.count);
}
static void call_alltoall(long i)
{
    (void)i;
    shmem_long_alltoall(SHMEM_TEAM_WORLD, c.dest, c.source, block());
}
static void setup_sets(void) {}
#else
/* Active sets take turns among several pSync arrays; no PE can be more than one call per PE ahead. */
static long sync_work[SYNCS][SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE +
                             SHMEM_BCAST_SYNC_SIZE + SHMEM_BARRIER_SYNC_SIZE];
static long reduce_work[2][LARGEST / sizeof(long) / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void setup_sets(void)
{
    for (size_t i = 0; i < SYNCS; i++)
        for (size_t k = 0; k < sizeof sync_work[0] / sizeof(long); k++)
            sync_work[i][k] = SHMEM_SYNC_VALUE;
}
static long *work(long i)
{
    return sync_work[i % SYNCS];
}
static void call_sync(long i)
{
    shmem_sync(0, 0, bench.pes, work(i));
}
static void call_broadcast(long i)
{
    shmem_broadcast64(c.dest, c.source, c.count, (int)(i % bench.pes), 0, 0, bench.pes, work(i));
}
static void call_reduce(long i)
{
    shmem_long_sum_to_all(c.dest, c.source, (int)c.count, 0, 0, bench.pes, reduce_work[i % 2], work(i));
}
static void call_fcollect(long i)
{
    shmem_fcollect64(c.dest, c.source, c.count, 0, 0, bench.pes, work(i));
}
static void call_alltoall(long i)
{
    shmem_alltoall64(c.dest, c.source, block(), 0, 0, bench.pes, work(i));
}
#endif
static void call_barrier(long i)
{
    (void)i;
    shmem_barrier_all();
}

/* What memcpy has to do: `bytes` from PE `pe`, for the place `to` in dest. */
static void copy(int pe, size_t from, size_t to, size_t bytes)
{
    memcpy((char *)c.dest + to, c.peer[pe] + from, bytes);
    __asm__ volatile("" ::: "memory"); /* every copy counts */
}

static void floor_broadcast(long i)
{
    copy((int)(i % bench.pes), 0, 0, c.size);
}
static void floor_reduce(long i)
{
    (void)i;
    copy((bench.me + 1) % bench.pes, 0, 0, c.size);
}
static void floor_fcollect(long i)
{
    (void)i;
    for (int pe = 0; pe < bench.pes; pe++)
        copy(pe, 0, (size_t)pe * c.size, c.size);
}
static void floor_alltoall(long i)
{
    size_t share = block() * sizeof(long);
    (void)i;
    for (int pe = 0; pe < bench.pes; pe++)
        copy(pe, (size_t)bench.me * share, (size_t)pe * share, share);
}

static const struct kind {
    const char *name;
    void (*call)(long), (*floor)(long);
} kinds[] = {
    {"barrier", call_barrier, NULL},
    {"sync", call_sync, NULL},
    {"broadcast", call_broadcast, floor_broadcast},
    {"reduce", call_reduce, floor_reduce},
    {"fcollect", call_fcollect, floor_fcollect},
    {"alltoall", call_alltoall, floor_alltoall},
};

static long calls; /* so far, the same on all PEs: pSync arrays and roots go on from batch to batch */

static void loop(long n, void *arg)
{
    const struct kind *kind = arg;
    for (long i = 0; i < n; i++)
        kind->call(calls++);
}

static void loop_and_barrier(long n, void *arg)
{
    loop(n, arg);
    shmem_barrier_all();
}

static void floor_and_barrier(long n, void *arg)
{
    const struct kind *kind = arg;
    for (long i = 0; i < n; i++)
        kind->floor(i);
    shmem_barrier_all();
}

static int wanted(const char *name)
{
    return c.only == NULL || strcmp(name, c.only) == 0;
}

static void measure_large(struct kind *kind)
{
    char name[48];
    double ns[2];
    const struct bench_kind both[] = {{"", loop_and_barrier, kind}, {"", floor_and_barrier, kind}};
    bench_turns(both, 2, ns);
    snprintf(name, sizeof name, "%s.%zu", kind->name, c.size);
    bench_result(name, ns[0], "ns");
    snprintf(name, sizeof name, "%s.%zu.floor", kind->name, c.size);
    bench_result(name, ns[1], "ns");
}

static void measure_small(struct kind *kind)
{
    char name[48];
    if (kind->floor != NULL)
        snprintf(name, sizeof name, "%s.%zu", kind->name, c.size);
    else
        snprintf(name, sizeof name, "%s", kind->name);
    bench_result(name, bench_together(loop, kind), "ns");
}

static void measure(size_t size)
{
    c.size = size;
    c.count = size / sizeof(long);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct kind kind = kinds[i];
        if (!wanted(kind.name))
            continue;
        if (size == sizeof(long))
            measure_small(&kind);
        else if (kind.floor != NULL)
            measure_large(&kind);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    bench_start(argc, argv);
    for (int i = 1; i < argc - 1; i++) {
        c.only = strcmp(argv[i], "--only") == 0 ? argv[i + 1] : c.only;
        c.only_size = strcmp(argv[i], "--size") == 0 ? (size_t)atol(argv[i + 1]) : c.only_size;
    }
    setup_sets();
    c.source = bench_need(shmem_calloc(1, LARGEST));
    c.dest = bench_need(shmem_calloc((size_t)bench.pes, LARGEST));
    c.peer = bench_need(malloc((size_t)bench.pes * sizeof *c.peer));
    for (int pe = 0; pe < bench.pes; pe++) {
        char *there = shmem_ptr(c.source, pe);
        c.peer[pe] = there ? there : (char *)c.source;
    }
    shmem_barrier_all();
    for (size_t size = sizeof(long); size <= LARGEST; size = size == sizeof(long) ? 64 << 10 : size * 64)
        if (c.only_size == 0 || c.only_size == size)
            measure(size);
    bench_print("coll");
    shmem_barrier_all();
    shmem_free(c.dest);
    shmem_free(c.source);
    free(c.peer);
    shmem_finalize();
    return 0;
}
