/* OpenSHMEM and MPI: rows are exchanged by puts, the residual is an MPI_Allreduce. A rank of MPI_COMM_WORLD is the PE of the same
 * number. docs/guide/hybrids.md explains it. */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>

enum { N = 1000, STEPS = 20 };

static double row[2][N + 2]; /* symmetric: a cell of each neighbour at the ends */

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    shmem_init();
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != shmem_my_pe() || size != shmem_n_pes())
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 1; i <= N; i++)
        row[0][i] = rank == 0 ? 100 : 0;
    double most = 0;
    for (int step = 0; step < STEPS; step++) {
        double *now = row[step % 2], *then = row[(step + 1) % 2], change = 0;
        now[0] = now[1], now[N + 1] = now[N]; /* closed ends */
        shmem_barrier_all();                  /* nobody reads his ends any more, and they are set */
        if (rank > 0)
            shmem_double_p(&now[N + 1], now[1], rank - 1);
        if (rank < size - 1)
            shmem_double_p(&now[0], now[N], rank + 1);
        shmem_barrier_all();
        for (int i = 1; i <= N; i++) {
            then[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
            change = then[i] - now[i] > change ? then[i] - now[i] : change;
        }
        MPI_Allreduce(&change, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d ranks, after %d steps a cell still warms by %.3f\n", size, STEPS, most);
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
