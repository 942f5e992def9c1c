/* Heat spreads along a ring of cells; each PE holds a piece of the ring.
 * Shows the additions of <shmemx.h>: counting puts (the neighbour waits for a count and needs no flag), a merged request
 * (the borders and other operations complete together), and a split-phase reduction with work between its phases.
 * Needs Lateral.
 *   oshcc heat.c -o heat && oshrun -n 4 ./heat [steps]
 *
 * The tests run it so:
 *   args: 300
 *   prints: verified
 */
#include <math.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1000, REPORT = 50 };

/* Neighbours put one cell from each side here. A neighbour may be one step ahead, so steps use two places in turns. */
static double from_left[2], from_right[2];
static double heat_here, heat_everywhere; /* for the reduction */

static double start_heat(long cell)
{
    return cell % 97 == 0 ? 1000.0 : (double)(cell % 7);
}

static double next_heat(double left, double here, double right)
{
    return here + 0.25 * (left - 2 * here + right);
}

static void inside(const double *now, double *next)
{
    for (int i = 1; i < CELLS - 1; i++)
        next[i] = next_heat(now[i - 1], now[i], now[i + 1]);
}

/* One PE computes the whole ring for comparison: the same operations on the same numbers. */
static long count_wrong(const double *mine, long first, long cells, long steps)
{
    double *now = malloc((size_t)cells * sizeof *now), *next = malloc((size_t)cells * sizeof *next);
    long wrong = 0;
    for (long i = 0; i < cells; i++)
        now[i] = start_heat(i);
    for (long step = 0; step < steps; step++) {
        for (long i = 0; i < cells; i++)
            next[i] = next_heat(now[(i + cells - 1) % cells], now[i], now[(i + 1) % cells]);
        double *swap = now;
        now = next;
        next = swap;
    }
    for (long i = 0; i < CELLS; i++)
        wrong += fabs(mine[i] - now[first + i]) > 1e-9;
    free(now);
    free(next);
    return wrong;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000, wrong = 0;
    static double cells[2][CELLS];
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes(), left = (me + pes - 1) % pes, right = (me + 1) % pes;
    double *now = cells[0], *next = cells[1], heat_at_start = 0;
    shmemx_ct_t left_came, right_came; /* one for each side: a fast neighbour must not count for a slow one */
    shmemx_request_t borders = SHMEMX_REQUEST_NULL, total = SHMEMX_REQUEST_NULL;
    shmemx_ct_create(&left_came);
    shmemx_ct_create(&right_came);
    for (int i = 0; i < CELLS; i++)
        now[i] = start_heat((long)me * CELLS + i);
    for (long i = 0; i < (long)pes * CELLS; i++)
        heat_at_start += start_heat(i);

    for (long step = 0; step < steps; step++) {
        shmemx_double_put_ct_nbe(right_came, &from_right[step % 2], &now[0], 1, left, &borders);
        shmemx_double_put_ct_nbe(left_came, &from_left[step % 2], &now[CELLS - 1], 1, right, &borders);
        inside(now, next);
        shmemx_ct_wait(left_came, step + 1);
        shmemx_ct_wait(right_came, step + 1);
        next[0] = next_heat(from_left[step % 2], now[0], now[1]);
        next[CELLS - 1] = next_heat(now[CELLS - 2], now[CELLS - 1], from_right[step % 2]);
        shmemx_request_wait(&borders); /* now the borders may be written again */

        if (step % REPORT == 0) { /* no heat is lost: the sum of REPORT steps ago, while these went on */
            shmemx_request_wait(&total);
            if (step > 0)
                wrong += fabs(heat_everywhere - heat_at_start) > 1e-6 * heat_at_start;
            heat_here = 0;
            for (int i = 0; i < CELLS; i++)
                heat_here += next[i];
            shmemx_double_sum_reduce_nbe(SHMEM_TEAM_WORLD, &heat_everywhere, &heat_here, 1, &total);
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    shmemx_request_wait(&total);
    shmemx_request_free(&total);
    shmemx_request_free(&borders);
    wrong += count_wrong(now, (long)me * CELLS, (long)pes * CELLS, steps);
    if (wrong)
        fprintf(stderr, "heat: PE %d: %ld wrong\n", me, wrong);
    else if (me == 0)
        printf("heat: %d PEs, %d cells, %ld steps, verified\n", pes, pes * CELLS, steps);
    shmemx_ct_free(&left_came);
    shmemx_ct_free(&right_came);
    shmem_finalize();
    return wrong != 0;
}
