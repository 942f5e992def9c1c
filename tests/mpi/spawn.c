/* Windows over spawned processes are the MPI's and work as without the layer; those of each world beside them are Lateral's.
 * ranks: 2
 * ways: spawn */
#include "check.h"

/* A ring within MPI_COMM_WORLD. */
static void own_window(void)
{
    int *base;
    MPI_Win win;
    OK(MPI_Win_allocate(sizeof *base, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&me, 1, MPI_INT, next_rank, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(*base, prev_rank);
    OK(MPI_Win_free(&win));
}

/* A ring and a sum over both worlds. */
static void common_window(MPI_Comm both)
{
    int all, rank, memory = 0, sum = 0;
    MPI_Win win, sums;
    MPI_Comm_size(both, &all);
    MPI_Comm_rank(both, &rank);
    CHECK_EQ(all, 2 * ranks);
    OK(MPI_Win_create(&memory, sizeof memory, 4, MPI_INFO_NULL, both, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % all, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory, (rank + all - 1) % all);
    OK(MPI_Win_create(&sum, sizeof sum, 4, MPI_INFO_NULL, both, &sums));
    OK(MPI_Win_fence(0, sums));
    OK(MPI_Accumulate(&all, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, sums));
    OK(MPI_Win_fence(0, sums));
    CHECK_EQ(sum, rank == 0 ? all * all : 0);
    OK(MPI_Win_free(&sums));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other, both;
    (void)argc;
    setenv("OMPI_MCA_osc", "^rdma", 0); /* Open MPI 4.1's makes no windows over two worlds */
    check_start(MPI_THREAD_SINGLE);
    MPI_Comm_get_parent(&parent);
    other = parent;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (parent == MPI_COMM_NULL && MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                                  &other, MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
        if (me == 0)
            printf("skipped: this MPI spawns nothing\n");
        fflush(stdout);
        MPI_Finalize();
        return 77;
    }
    OK(MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &both));
    own_window();
    common_window(both);
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_disconnect(&other));
    if (parent == MPI_COMM_NULL)
        return check_pass();
    return MPI_Finalize();
}
