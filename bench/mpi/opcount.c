/* Puts N times 8 bytes into an allocated window of this one rank and flushes each, in the function `measured`, whose instructions
 * bench/guard.py counts.
 *
 *   opcount put|loop N */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { WARM = 16 };

__attribute__((noinline)) static void measured(int put, long n, MPI_Win window)
{
    for (long i = 0; i < n; i++) {
        if (put) {
            MPI_Put(&i, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window);
            MPI_Win_flush(0, window);
        }
        __asm__ volatile("" ::: "memory");
    }
}

int main(int argc, char **argv)
{
    MPI_Win window;
    long *memory;
    if (argc != 3)
        return 2;
    int put = strcmp(argv[1], "put") == 0;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(4096, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    measured(put, WARM, window);
    measured(put, atol(argv[2]), window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
