/* Conjugate gradients on a sparse symmetric matrix, the Laplacian of a graph plus one, whose rows the PEs share in blocks. A step needs
 * the values of other PEs' rows at the ends of edges, and two sums over all.
 *   plain     each PE puts its values into their places at the others, and all meet in a barrier
 *   counters  counting puts: a PE multiplies its own part meanwhile, and waits only for the values it needs
 * A vertex has edges to its neighbours in a ring and, by multiplication, to distant ones, so every PE needs something of every other. The
 * answer is known. PE 0 prints the time of a step, the median of several solutions. */
#include "bench.h"

#include <math.h>

enum { LOCAL = 4096, DEGREE = 8, MOST_PES = 64, STEPS = 500 };

static double sums[2], parts[2], reduce_work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long reduce_sync[2][SHMEM_REDUCE_SYNC_SIZE];
static double *ghosts[MOST_PES]; /* symmetric: ghosts[pe][i] is the value of pe's i-th row that I need */
static int needed[MOST_PES], *need[MOST_PES], asked[MOST_PES],
    *ask[MOST_PES];                /* rows of pe that I need; rows of mine that pe needs */
static int columns[LOCAL][DEGREE]; /* below LOCAL: my row; else LOCAL + a place among all ghosts */
static double *packed, values[LOCAL], x[LOCAL], r[LOCAL], p[LOCAL], product[LOCAL];
static int vertices, by_counters;
static shmemx_ct_t arrived;

/* The other end of an edge. The last four come in pairs that undo each other, so the graph has no direction. */
static int neighbour(int v, int edge)
{
    static const int step[] = {1, -1, 17, -17};
    if (edge < 4)
        return (v + step[edge] + vertices) % vertices;
    int distance = vertices / (3 + edge / 2) + 5;
    return (v + (edge % 2 ? distance : vertices - distance)) % vertices;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Returns the sorted rows of `owner` at the other ends of the edges of `pe`. */
static int rows_between(int owner, int pe, int *rows)
{
    int count = 0, kept = 0;
    for (int i = 0; i < LOCAL; i++)
        for (int edge = 0; edge < DEGREE; edge++) {
            int other = neighbour(pe * LOCAL + i, edge);
            if (other / LOCAL == owner)
                rows[count++] = other % LOCAL;
        }
    qsort(rows, (size_t)count, sizeof *rows, compare);
    for (int i = 0; i < count; i++)
        if (!kept || rows[i] != rows[kept - 1])
            rows[kept++] = rows[i];
    return kept;
}

static void make_matrix(void)
{
    size_t room = LOCAL * DEGREE * sizeof(int);
    for (int pe = 0; pe < bench.pes; pe++) {
        ghosts[pe] = bench_need(shmem_malloc(LOCAL * sizeof(double)));
        need[pe] = bench_need(malloc(room)), ask[pe] = bench_need(malloc(room));
        if (pe != bench.me) {
            needed[pe] = rows_between(pe, bench.me, need[pe]);
            asked[pe] = rows_between(bench.me, pe, ask[pe]);
        }
    }
    packed = bench_need(malloc((size_t)bench.pes * LOCAL * sizeof(double)));
    for (int i = 0; i < LOCAL; i++)
        for (int edge = 0; edge < DEGREE; edge++) {
            int other = neighbour(bench.me * LOCAL + i, edge), owner = other / LOCAL, row = other % LOCAL;
            if (owner != bench.me)
                row =
                    LOCAL * (owner + 1) +
                    (int)((int *)bsearch(&row, need[owner], (size_t)needed[owner], sizeof row, compare) - need[owner]);
            columns[i][edge] = row;
        }
}

/* Gives each PE the values that it needs. What it says with `by_counters` off is there after the barrier. */
static void send_values(void)
{
    for (int k = 1; k < bench.pes; k++) {
        int pe = (bench.me + k) % bench.pes;
        double *out = packed + (size_t)pe * LOCAL;
        for (int i = 0; i < asked[pe]; i++)
            out[i] = p[ask[pe][i]];
        size_t size = (size_t)asked[pe] * sizeof *out;
        double *to = ghosts[bench.me];
        by_counters ? shmemx_putmem_ct(arrived, to, out, size, pe) : shmem_putmem(to, out, size, pe);
    }
    if (!by_counters)
        shmem_barrier_all();
}

/* Adds the edges that are mine alone, or those to others. */
static void add_edges(int far)
{
    for (int i = 0; i < LOCAL; i++) {
        double sum = far ? product[i] : (DEGREE + 1) * p[i];
        for (int edge = 0; edge < DEGREE; edge++) {
            int column = columns[i][edge];
            if (far == (column >= LOCAL))
                sum -= far ? ghosts[column / LOCAL - 1][column % LOCAL] : p[column];
        }
        product[i] = sum;
    }
}

static void multiply(void)
{
    static uint64_t messages;
    send_values();
    add_edges(0);
    messages += (uint64_t)(bench.pes - 1);
    if (by_counters)
        shmemx_ct_wait(arrived, messages);
    add_edges(1);
}

static double dot(const double *a, const double *b)
{
    static int turn;
    parts[turn ^= 1] = 0;
    for (int i = 0; i < LOCAL; i++)
        parts[turn] += a[i] * b[i];
    shmem_double_sum_to_all(&sums[turn], &parts[turn], 1, 0, 0, bench.pes, reduce_work, reduce_sync[turn]);
    return sums[turn];
}

/* Stores the nanoseconds of a step, and returns the largest error of a row. */
static double solve(double *time)
{
    double worst = 0;
    memset(x, 0, sizeof x);
    for (int i = 0; i < LOCAL; i++)
        p[i] = values[i] = (double)((bench.me * LOCAL + i) * 2654435761u % 1000u) / 1000;
    shmem_barrier_all();
    multiply();
    memcpy(r, product, sizeof r), memcpy(p, product, sizeof p);
    double rr = dot(r, r), first = rr, start = bench_now();
    int step = 1;
    for (; step <= STEPS && rr > 1e-20 * first; step++) {
        multiply();
        double alpha = rr / dot(p, product);
        for (int i = 0; i < LOCAL; i++)
            x[i] += alpha * p[i], r[i] -= alpha * product[i];
        double next = dot(r, r);
        for (int i = 0; i < LOCAL; i++)
            p[i] = r[i] + next / rr * p[i];
        rr = next;
    }
    *time = (bench_now() - start) / (step - 1);
    for (int i = 0; i < LOCAL; i++)
        worst = fmax(worst, fabs(x[i] - values[i]));
    return worst;
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    by_counters = bench_has(argc, argv, "counters");
    if (bench.pes > MOST_PES)
        return fprintf(stderr, "solver: at most %d PEs\n", MOST_PES), 1;
    vertices = bench.pes * LOCAL;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        reduce_sync[0][i] = reduce_sync[1][i] = SHMEM_SYNC_VALUE;
    shmemx_ct_create(&arrived);
    make_matrix();
    double each[BENCH_MOST_BATCHES], worst = 0;
    for (int i = -1; i < bench.batches; i++)
        worst = fmax(worst, solve(&each[i < 0 ? 0 : i]));
    bench_result(bench_median(each, bench.batches) / 1e3, "us", "step");
    return bench_end("solver", !(worst < 1e-6));
}
