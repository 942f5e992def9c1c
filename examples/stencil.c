/* The pipelined stencil of the Parallel Research Kernels (Synch_p2p).
 *
 * A grid of m columns and n rows is split into strips of columns, one per PE. Every point needs its
 * left, upper and upper left neighbour:  A(i,j) = A(i-1,j) + A(i,j-1) - A(i-1,j-1),
 * so PEs work one after another along each row, and rows follow each other like cars: the last
 * point of a row goes to the right neighbour, one element at a time. The speed depends on how quickly one
 * PE can tell another that a value has arrived.
 *
 *   oshcc -O2 stencil.c -o stencil && oshrun -n 2 ./stencil 10 12800 1280
 *   arguments: iterations m n
 *
 * A PE may overwrite `from_left[j]` only when the neighbour has read it. PE 0 starts an iteration when the last PE
 * has finished the one before, and to finish it, every PE has read all its values.
 *
 * The tests run it so:
 *   args: 3 400 64
 *   prints: verified
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Symmetric: written by neighbours. */
static uint64_t rows_here;    /* rows whose last point of the left strip has arrived, ever */
static uint64_t corners_here; /* corner values that have arrived on PE 0, ever */
static double corner, seconds;
static double *from_left; /* n values */

struct grid {
    long m, n, width; /* width: columns kept here, where column 0 is given, not computed */
    double *a;        /* n rows of width */
    int me, pes;
    uint64_t seen; /* the last value read from rows_here: saves most waits */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Puts one value and then announces it: the count at `count` becomes `number`. */
static void send_value(double *to, double value, uint64_t *count, uint64_t number, int pe)
{
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
    shmem_double_put_signal(to, &value, 1, count, number, SHMEM_SIGNAL_SET, pe);
#else
    shmem_double_p(to, value, pe);
    shmem_fence();
    shmem_uint64_p(count, number, pe);
#endif
}

/* Waits until the count is at least `number`; returns a count that it has reached. */
static uint64_t wait_for(uint64_t *count, uint64_t number)
{
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
    return shmem_signal_wait_until(count, SHMEM_CMP_GE, number);
#else
    shmem_uint64_wait_until(count, SHMEM_CMP_GE, number);
    return number;
#endif
}

static int grid_setup(struct grid *g)
{
    long share = g->m / g->pes, wider = g->m % g->pes;
    long first = g->me * share + (g->me < wider ? g->me : wider);
    long given = g->me == 0 ? first : first - 1; /* column 0 here: the border, or the neighbour's last */
    g->width = share + (g->me < wider) + (g->me != 0);
    g->a = calloc((size_t)(g->n * g->width), sizeof *g->a);
    from_left = shmem_malloc((size_t)g->n * sizeof *from_left);
    if (g->a == NULL || from_left == NULL)
        return 0;
    for (long i = 0; i < g->width; i++)
        g->a[i] = (double)(given + i);
    if (g->me == 0)
        for (long j = 0; j < g->n; j++)
            g->a[j * g->width] = (double)j;
    return 1;
}

static void compute_row(const double *up, double *row, long width)
{
    double left = row[0];
    for (long i = 1; i < width; i++)
        row[i] = left = left + (up[i] - up[i - 1]);
}

/* One sweep over the grid; number counts from 0. */
static void sweep(struct grid *g, long number)
{
    uint64_t before = (uint64_t)number * (uint64_t)(g->n - 1);
    for (long j = 1; j < g->n; j++) {
        double *row = g->a + j * g->width;
        uint64_t count = before + (uint64_t)j;
        if (g->me > 0) {
            if (g->seen < count)
                g->seen = wait_for(&rows_here, count);
            row[0] = from_left[j];
        }
        compute_row(row - g->width, row, g->width);
        if (g->me < g->pes - 1)
            send_value(&from_left[j], row[g->width - 1], &rows_here, count, g->me + 1);
    }
}

/* The far corner, negated, becomes the origin: the next sweep depends on all of this one. */
static void close_loop(struct grid *g, long number)
{
    double far_corner = g->a[g->n * g->width - 1];
    if (g->me == g->pes - 1)
        send_value(&corner, -far_corner, &corners_here, (uint64_t)number + 1, 0);
    if (g->me == 0) {
        wait_for(&corners_here, (uint64_t)number + 1);
        g->a[0] = corner;
    }
}

static void run(struct grid *g, long iterations)
{
    double start = 0;
    for (long number = 0; number <= iterations; number++) {
        if (number == 1) { /* the first sweep warms up */
            shmem_barrier_all();
            start = now();
        }
        sweep(g, number);
        close_loop(g, number);
    }
    seconds = now() - start;
    shmem_barrier_all();
}

static double slowest(int pes)
{
    double most = 0;
    for (int pe = 0; pe < pes; pe++) {
        double theirs = shmem_double_g(&seconds, pe);
        most = theirs > most ? theirs : most;
    }
    return most;
}

/* Called on PE 0: reads the corner (now negated and at the origin) and the times. Returns 1 if right. */
static int report(const struct grid *g, long iterations)
{
    double expected = (double)(iterations + 1) * (double)(g->m + g->n - 2);
    double error = (-corner - expected) / expected;
    int right = error < 1e-8 && error > -1e-8;
    double each = slowest(g->pes) / (double)iterations;
    double rate = 2.0 * (double)(g->m - 1) * (double)(g->n - 1) / each * 1e-6;
    printf("stencil: %ld x %ld, %d PEs: %.1f MFlop/s, %s\n", g->m, g->n, g->pes, rate, right ? "verified" : "WRONG");
    return right;
}

static int usage(int me, const char *why)
{
    if (me == 0)
        fprintf(stderr, "stencil: %s\nusage: stencil ITERATIONS M N\n", why);
    shmem_finalize();
    return 2;
}

int main(int argc, char **argv)
{
    shmem_init();
    struct grid g = {.me = shmem_my_pe(), .pes = shmem_n_pes()};
    if (argc < 4)
        return usage(g.me, "too few arguments");
    long iterations = atol(argv[1]);
    g.m = atol(argv[2]);
    g.n = atol(argv[3]);
    if (iterations < 1 || g.n < 2 || g.m / g.pes < 2)
        return usage(g.me, "needs at least 1 iteration, 2 rows, and 2 columns for every PE");
    if (!grid_setup(&g)) {
        fprintf(stderr, "stencil: PE %d: out of memory\n", g.me);
        shmem_global_exit(1);
    }
    shmem_barrier_all();
    run(&g, iterations);
    int wrong = g.me == 0 && !report(&g, iterations);
    shmem_barrier_all(); /* PE 0 reads our time until here */
    shmem_free(from_left);
    free(g.a);
    shmem_finalize();
    return wrong;
}
