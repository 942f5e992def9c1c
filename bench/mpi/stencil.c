/* A program of MPI windows: heat on a square that is cut into strips of rows. In every step each rank puts its border rows
 * into its neighbours' windows and meets them in a fence.
 *
 * Rank 0 prints the seconds when the total heat is right. */
#include "common.h"

#include <math.h>

enum { N = 256, STEPS = 2000 };

static int n = N, rows;
static double *now, *next;
static MPI_Win window;

static void exchange(void)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    if (rank > 0)
        MPI_Put(now + n, n, MPI_DOUBLE, rank - 1, (MPI_Aint)(rows + 1) * n, n, MPI_DOUBLE, window);
    if (rank + 1 < ranks)
        MPI_Put(now + rows * n, n, MPI_DOUBLE, rank + 1, 0, n, MPI_DOUBLE, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

/* Heat flows between neighbours and nowhere else, so its total stays. */
static void step(void)
{
    int top = rank == 0, bottom = rank == ranks - 1;
    for (int i = 1; i <= rows; i++)
        for (int j = 0; j < n; j++) {
            double here = now[i * n + j];
            double up = top && i == 1 ? here : now[(i - 1) * n + j];
            double down = bottom && i == rows ? here : now[(i + 1) * n + j];
            double left = j ? now[i * n + j - 1] : here, right = j < n - 1 ? now[i * n + j + 1] : here;
            next[i * n + j] = here + 0.2 * (up + down + left + right - 4 * here);
        }
    memcpy(now + n, next + n, (size_t)rows * (size_t)n * sizeof *now);
}

int main(int argc, char **argv)
{
    double sum = 0, all;
    open_mpi(&argc, &argv, MPI_THREAD_SINGLE);
    rows = n / ranks;
    size_t bytes = (size_t)(rows + 2) * (size_t)n * sizeof *now;
    MPI_Win_allocate((MPI_Aint)bytes, sizeof *now, MPI_INFO_NULL, MPI_COMM_WORLD, &now, &window);
    next = malloc(bytes);
    if (!next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(now, 0, bytes);
    now[n + n / 2] = 1000.0 * (rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < STEPS; i++) {
        exchange();
        step();
    }
    double seconds = MPI_Wtime() - start;
    for (int i = n; i < (rows + 1) * n; i++)
        sum += now[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int wrong = rank == 0 && fabs(all - 500.0 * ranks * (ranks + 1)) > 1e-6 * all;
    if (!wrong) {
        bench_result(seconds, "s", "time");
        bench_results_end();
    }
    MPI_Win_free(&window);
    free(next);
    MPI_Finalize();
    return wrong;
}
