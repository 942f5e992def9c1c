/* Breadth-first search, one level after the other: the vertices lie on the PEs in blocks. Whoever finds an edge to a vertex claims it by a
 * compare-and-swap of its parent, and appends it to its owner's queue of the next level.
 *
 * 4,096 vertices, 256 with --quick, and 8 edges out of each. `time`: milliseconds of a search. Each PE checks the tree against a search of
 * its own. */
#include "bench.h"

enum { DEGREE = 8, SEARCHES = 5 };

static long vertices, block;
static long *parents, *queues[2]; /* symmetric, of this PE's block */
static long tails[2];             /* symmetric: how many there are in each queue */

static long neighbour(long vertex, int edge)
{
    uint64_t x = ((uint64_t)vertex * DEGREE + (uint64_t)edge + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (long)((x ^ x >> 31) % (uint64_t)vertices);
}

static void visit(long vertex, long from, int level)
{
    const int pe = (int)(vertex / block);
    if (shmem_long_atomic_compare_swap(&parents[vertex % block], -1, from, pe) == -1)
        shmem_long_p(&queues[level % 2][shmem_long_atomic_fetch_inc(&tails[level % 2], pe)], vertex, pe);
}

/* Returns whether some PE has vertices of this level. */
static int is_there(int level)
{
    long sum = 0;
    for (int pe = 0; pe < bench.pes; pe++)
        sum += shmem_long_g(&tails[level % 2], pe);
    return sum != 0;
}

static void search(void)
{
    if (bench.me == 0)
        visit(0, 0, 0);
    shmem_barrier_all();
    for (int level = 0; is_there(level); level++) {
        for (long i = 0; i < tails[level % 2]; i++)
            for (int edge = 0; edge < DEGREE; edge++)
                visit(neighbour(queues[level % 2][i], edge), queues[level % 2][i], level + 1);
        shmem_barrier_all();
        tails[level % 2] = 0;
        shmem_barrier_all();
    }
}

/* Returns the level of each vertex, or -1 where no edge leads. */
static long *levels_alone(void)
{
    long *levels = bench_need(malloc((size_t)vertices * sizeof *levels)),
         *queue = bench_need(malloc((size_t)vertices * sizeof *queue));
    memset(levels, -1, (size_t)vertices * sizeof *levels);
    levels[queue[0] = 0] = 0;
    for (long head = 0, tail = 1; head < tail; head++)
        for (int edge = 0; edge < DEGREE; edge++) {
            const long next = neighbour(queue[head], edge);
            if (levels[next] < 0) {
                levels[next] = levels[queue[head]] + 1;
                queue[tail++] = next;
            }
        }
    free(queue);
    return levels;
}

static long count_wrong(const long *levels)
{
    long wrong = 0;
    for (long i = 0; i < block; i++) {
        const long vertex = bench.me * block + i, parent = parents[i], level = levels[vertex];
        wrong += level < 0 ? parent != -1 : vertex ? parent < 0 || levels[parent] != level - 1 : parent != 0;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    double times[SEARCHES];
    long wrong = 0;
    bench_open(argc, argv);
    block = ((1L << (bench.quick ? 8 : 12)) + bench.pes - 1) / bench.pes;
    vertices = block * bench.pes;
    parents = bench_need(shmem_malloc((size_t)block * sizeof *parents));
    for (int i = 0; i < 2; i++)
        queues[i] = bench_need(shmem_malloc((size_t)block * sizeof *queues[i]));
    long *levels = levels_alone();
    for (int i = 0; i < SEARCHES; i++) {
        memset(parents, -1, (size_t)block * sizeof *parents);
        shmem_barrier_all();
        double start = bench_now();
        search();
        times[i] = bench_now() - start;
        wrong += count_wrong(levels);
    }
    bench_result(bench_median(times, SEARCHES) * 1e-6, "ms", "time");
    return bench_end("bfs", wrong);
}
