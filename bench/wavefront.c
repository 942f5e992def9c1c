/* A pipelined stencil (Dinan et al. 2014, figures 5 and 6; Synch_p2p of the Parallel Research Kernels). Columns lie in strips.
 * Each row's last element goes to the right neighbour, which waits for it. Reports million floating point operations a
 * second.
 *
 *   flags       put of the element, fence, put of the row number; the neighbour waits for that
 *   put_signal  put_signal
 *   ct          counting put; row j of iteration k waits for k * (rows - 1) + j
 *
 *   wavefront [ROWS COLUMNS] [--quick]
 *
 * Without sizes it runs both 1280 rows and 12800 columns and 320 x 3200, where waiting costs more. It checks each run:
 * the corner is (iterations + 1) * (rows + columns - 2). */
#include "bench.h"

struct grid {
    int rows, columns; /* of all PEs */
    int first, width;  /* this PE's strip */
    double *a;         /* width + 1 columns; the neighbour's last one is in front */
    double *halo;      /* symmetric; elements from the left neighbour, by row */
    double *source;
    double *corner; /* symmetric; the last PE's corner, sent to the first */
    int *flag;      /* symmetric, as signal and corner_flag are */
    uint64_t *signal;
    int *corner_flag;
    int iteration;
    shmemx_ct_t ct;
};

enum way { FLAGS, SIGNAL, COUNTER };

static long wrong;

static double *at(const struct grid *g, int column, int row)
{
    return g->a + (size_t)row * (size_t)(g->width + 1) + (column - g->first + 1);
}

static inline void wait_row(const struct grid *g, enum way way, int row)
{
    long threshold = (long)g->iteration * (g->rows - 1) + row;
    if (way == FLAGS)
        shmem_int_wait_until(g->flag, SHMEM_CMP_GE, (int)threshold);
    if (way == SIGNAL)
        shmem_signal_wait_until(g->signal, SHMEM_CMP_GE, (uint64_t)threshold);
    if (way == COUNTER)
        shmemx_ct_wait(g->ct, threshold);
}

static inline void send_row(const struct grid *g, enum way way, int row)
{
    long threshold = (long)g->iteration * (g->rows - 1) + row;
    int right = bench.me + 1;
    g->source[row] = *at(g, g->first + g->width - 1, row);
    if (way == FLAGS) {
        shmem_double_put(&g->halo[row], &g->source[row], 1, right);
        shmem_fence();
        shmem_int_p(g->flag, (int)threshold, right);
    }
    if (way == SIGNAL)
        shmem_double_put_signal(&g->halo[row], &g->source[row], 1, g->signal, (uint64_t)threshold, SHMEM_SIGNAL_SET,
                                right);
    if (way == COUNTER)
        shmemx_double_put_ct(g->ct, &g->halo[row], &g->source[row], 1, right);
}

static inline void compute_row(const struct grid *g, int row)
{
    double *now = at(g, g->first, row);
    const double *before = at(g, g->first, row - 1);
    for (int i = bench.me ? 0 : 1; i < g->width; i++)
        now[i] = now[i - 1] + before[i] - before[i - 1];
}

/* The last PE's corner, negated, is the first PE's corner of the next iteration. */
static void send_corner(struct grid *g)
{
    double corner = 0;
    if (bench.me == bench.pes - 1) {
        corner = -*at(g, g->columns - 1, g->rows - 1);
        shmem_double_put(g->corner, &corner, 1, 0);
        shmem_fence();
        shmem_int_p(g->corner_flag, g->iteration + 1, 0);
    }
    if (bench.me == 0) {
        shmem_int_wait_until(g->corner_flag, SHMEM_CMP_GE, g->iteration + 1);
        *at(g, 0, 0) = *(volatile double *)g->corner;
    }
}

static inline void iterate(struct grid *g, enum way way)
{
    for (int row = 1; row < g->rows; row++) {
        if (bench.me > 0) {
            wait_row(g, way, row);
            *at(g, g->first - 1, row) = ((volatile double *)g->halo)[row];
        }
        compute_row(g, row);
        if (bench.me < bench.pes - 1)
            send_row(g, way, row);
    }
    send_corner(g);
    g->iteration++;
}

static void start_grid(struct grid *g)
{
    for (int i = 0; i < g->width; i++)
        *at(g, g->first + i, 0) = g->first + i;
    *at(g, g->first - 1, 0) = g->first - 1;
    for (int row = 0; bench.me == 0 && row < g->rows; row++)
        *at(g, 0, row) = row;
    *g->flag = *g->corner_flag = g->iteration = 0;
    *g->signal = 0;
    shmemx_ct_set(g->ct, 0);
    shmem_barrier_all();
}

/* Returns the seconds per iteration. One iteration warms up. The slowest PE's time counts; the corner makes the times
 * equal except for the pipeline. */
static double seconds_of(struct grid *g, enum way way, int iterations)
{
    start_grid(g);
    iterate(g, way);
    shmem_barrier_all();
    double start = bench_now();
    for (int i = 0; i < iterations; i++)
        iterate(g, way);
    shmem_barrier_all();
    double took = bench_now() - start;
    double want = (double)(iterations + 1) * (g->rows + g->columns - 2);
    double got = bench.me == bench.pes - 1 ? *at(g, g->columns - 1, g->rows - 1) : want;
    wrong += got < want * (1 - 1e-8) || got > want * (1 + 1e-8);
    return took * 1e-9 / iterations;
}

static void measure(int rows, int columns, int iterations)
{
    static const char *const names[] = {"flags", "put_signal", "ct"};
    static const enum way ways[] = {FLAGS, SIGNAL,
                                    BENCH_REQUESTS ? COUNTER : FLAGS}; /* what a program does without counters */
    double rates[3][BENCH_MOST_BATCHES];
    int batches = bench.batches / 5 + 1;
    struct grid g = {.rows = rows, .columns = columns};
    g.first = (int)((long)columns * bench.me / bench.pes);
    g.width = (int)((long)columns * (bench.me + 1) / bench.pes) - g.first;
    g.a = bench_need(calloc((size_t)rows * (size_t)(g.width + 1), sizeof *g.a));
    g.source = bench_need(calloc((size_t)rows, sizeof *g.source));
    g.halo = bench_need(shmem_align(128, (size_t)rows * sizeof *g.halo));
    g.corner = bench_need(shmem_align(128, 128));
    g.flag = bench_need(shmem_align(128, 128));
    g.signal = bench_need(shmem_align(128, 128));
    g.corner_flag = bench_need(shmem_align(128, 128));
    shmemx_ct_create(&g.ct);
    for (int i = 0; i < batches; i++)
        for (int way = 0; way < 3; way++)
            rates[way][i] = 2e-6 * (rows - 1) * (columns - 1) / seconds_of(&g, ways[way], iterations);
    for (int way = 0; way < 3; way++)
        bench_result(bench_median(rates[way], batches), "MFlop/s", "%s.%dx%d", names[way], rows, columns);
    shmem_barrier_all();
    free(g.a);
    free(g.source);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    int given = argc > 2 && argv[1][0] != '-';
    int rows = given ? atoi(argv[1]) : 1280, columns = given ? atoi(argv[2]) : 12800;
    if (!given)
        measure(320, 3200, bench.quick ? 4 : 20);
    measure(rows, columns, bench.quick ? 1 : 5);
    return bench_end("wavefront", wrong);
}
