/* Making windows of plain MPI: time of MPI_Win_allocate and MPI_Win_free of 64 KiB per rank, the fastest of some, and the memory that a
 * rank holds for each window while WINDOWS of them are open.
 *
 * Rank 0 prints {"results": {"time": [us, "us"], "memory": [bytes, "B"]}}; memory is the private and shared pages that
 * this process has touched (statm), the largest of the ranks, without the windows' own bytes, which nobody touches. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { WINDOWS = 16, TIMES = 12, MOST_SECONDS = 1 };

static double resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%ld %ld", &size, &pages) != 2)
            pages = 0;
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

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
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_and_free();
    double start = MPI_Wtime();
    for (int i = 0, more = 1; i < TIMES && more; i++) {
        seen = make_and_free();
        least = seen < least ? seen : least;
        more = MPI_Wtime() - start < MOST_SECONDS;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("{\"results\": {\"time\": [%.9g, \"us\"]", least * 1e6);
        fflush(stdout);
    }
    double before = resident();
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_allocate(65536, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window[i]);
    mine = (resident() - before) / WINDOWS;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&window[i]);
    if (rank == 0)
        printf(", \"memory\": [%.9g, \"B\"]}}\n", most);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
