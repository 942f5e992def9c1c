/* Moves a known number of bytes and waits at known lines, for counted.py. */
#include <mpi.h>
#include <unistd.h>

#define PUTS 10

/* A window of two ranks: rank 1 there is 2 or 3 in the world. */
static void in_pairs(int me, void *base)
{
    char got[8];
    const int half = me / 2;
    MPI_Comm grid, pair;
    MPI_Win pairs;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &grid);
    MPI_Cart_sub(grid, (int[]){1, 0}, &pair);
    MPI_Win_create(got, sizeof got, 1, MPI_INFO_NULL, pair, &pairs);
    MPI_Win_fence(0, pairs);
    if (half == 0)
        MPI_Put(base, 8, MPI_CHAR, 1, 0, 8, MPI_CHAR, pairs); /* 8 bytes */
    MPI_Win_fence(0, pairs);
    MPI_Win_free(&pairs);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    int me, ranks, got[2], *base;
    long more = 1, old;
    MPI_Win all;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &all);
    MPI_Win_lock_all(0, all);
    for (int i = 0; i < PUTS; i++)
        MPI_Put(base, 100, MPI_INT, (me + 1) % ranks, 512, 100, MPI_INT, all); /* 400 bytes */
    MPI_Put(base, 100, MPI_INT, MPI_PROC_NULL, 512, 100, MPI_INT, all);
    MPI_Fetch_and_op(&more, &old, MPI_LONG, 0, 0, MPI_SUM, all);                 /* 8 bytes */
    MPI_Rget(got, 2, MPI_INT, (me + 1) % ranks, 512, 2, MPI_INT, all, &request); /* 8 bytes */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(all);
    MPI_Win_unlock_all(all);
    if (argc == 1) /* not on the MPI's own windows: Open MPI 4.1 fails to create some of them */
        in_pairs(me, base);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        usleep(300000);
    MPI_Win_fence(0, all); /* all but rank 0 wait here */
    MPI_Win_free(&all);
    MPI_Finalize();
    return 0;
}
