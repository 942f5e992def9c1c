/* Making windows of plain MPI: time of MPI_Win_allocate and MPI_Win_free of 64 KiB per rank, the fastest of some, and the memory that a
 * rank holds for each window while WINDOWS of them are open: the largest of the ranks, without the windows' own bytes, which nobody
 * touches. */
#include "common.h"

enum { WINDOWS = 16, TIMES = 12, MOST_SECONDS = 1 };

static double make_and_free(void)
{
    MPI_Win window;
    void *memory;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Win_allocate(65536, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_free(&window);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    double seen, least = 1e9, mine, most;
    MPI_Win window[WINDOWS];
    void *memory;
    open_mpi(&argc, &argv, MPI_THREAD_SINGLE);
    make_and_free();
    double start = MPI_Wtime();
    for (int i = 0, more = 1; i < TIMES && more; i++) {
        seen = make_and_free();
        least = seen < least ? seen : least;
        more = MPI_Wtime() - start < MOST_SECONDS;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    bench_result(least * 1e6, "us", "time");
    double before = bench_resident();
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_allocate(65536, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window[i]);
    mine = (bench_resident() - before) / WINDOWS;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&window[i]);
    bench_result(most, "B", "memory");
    bench_results_end();
    MPI_Finalize();
    return 0;
}
