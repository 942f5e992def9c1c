/* A program for starts.py: puts in windows, whoever carries them; with the argument "wrong" a put without an epoch, with
 * "unit" a window with a unit of 0. */
#include "check.h"

int main(int argc, char **argv)
{
    long base[8] = {0}, value; /* MPICH 4.0 loses puts to small windows that it allocates */
    MPI_Win win;
    check_start(MPI_THREAD_SINGLE);
    value = me;
    if (argc > 1 && strcmp(argv[1], "unit") == 0)
        MPI_Win_create(base, sizeof base, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    OK(MPI_Win_create(base, sizeof base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI_Win_set_name(win, "halo");
    if (argc > 1 && strcmp(argv[1], "wrong") == 0)
        MPI_Put(&value, 1, MPI_LONG, next_rank, 0, 1, MPI_LONG, win);
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < ranks; i++)
        OK(MPI_Put(&value, 1, MPI_LONG, i, me, 1, MPI_LONG, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < ranks; i++)
        CHECK_EQ(base[i], i);
    OK(MPI_Win_free(&win));
    return check_pass();
}
