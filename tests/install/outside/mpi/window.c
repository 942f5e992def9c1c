/* An MPI program of one rank or more: each rank puts its number to the next one's window. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, ranks, *inbox;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(sizeof *inbox, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &inbox, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    int right = *inbox == (rank + ranks - 1) % ranks;
    MPI_Win_free(&window);
    MPI_Finalize();
    return !right;
}
